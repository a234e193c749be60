package thetajoin.functions.vector;

import org.apache.spark.unsafe.types.UTF8String;

/** Vectors of different lengths. */
public final class VectorDimensionMismatchException extends IllegalArgumentException {
  VectorDimensionMismatchException(UTF8String function, int left, int right) {
    super(
        "[VECTOR_DIMENSION_MISMATCH] "
            + function
            + " compares vectors of equal length, but these have "
            + left
            + " and "
            + right
            + " coordinates. Filter the rows by size(), or mend the vectors.");
  }
}
