package thetajoin.functions.vector;

import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The computation of Spark's functions of vectors, for versions of Spark that have none. Sums are of 64 bits. The
 * result is null if a coordinate is.
 */
public final class VectorFunctions {
  private VectorFunctions() {}

  public static Float vectorCosineSimilarity(ArrayData a, ArrayData b, UTF8String function) {
    int length = commonLength(a, b, function);
    double product = 0, squaresOfA = 0, squaresOfB = 0;
    for (int i = 0; i < length; i++) {
      if (a.isNullAt(i) || b.isNullAt(i)) return null;
      double x = a.getFloat(i), y = b.getFloat(i);
      product += x * y;
      squaresOfA += x * x;
      squaresOfB += y * y;
    }
    double lengths = Math.sqrt(squaresOfA * squaresOfB);
    return lengths == 0 ? null : Float.valueOf((float) (product / lengths));
  }

  public static Float vectorInnerProduct(ArrayData a, ArrayData b, UTF8String function) {
    int length = commonLength(a, b, function);
    double product = 0;
    for (int i = 0; i < length; i++) {
      if (a.isNullAt(i) || b.isNullAt(i)) return null;
      product += (double) a.getFloat(i) * b.getFloat(i);
    }
    return (float) product;
  }

  public static Float vectorL2Distance(ArrayData a, ArrayData b, UTF8String function) {
    int length = commonLength(a, b, function);
    double squares = 0;
    for (int i = 0; i < length; i++) {
      if (a.isNullAt(i) || b.isNullAt(i)) return null;
      double difference = (double) a.getFloat(i) - b.getFloat(i);
      squares += difference * difference;
    }
    return (float) Math.sqrt(squares);
  }

  private static int commonLength(ArrayData a, ArrayData b, UTF8String function) {
    if (a.numElements() != b.numElements())
      throw new VectorDimensionMismatchException(function, a.numElements(), b.numElements());
    return a.numElements();
  }
}
