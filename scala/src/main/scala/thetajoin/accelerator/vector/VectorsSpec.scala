package thetajoin.accelerator.vector

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, IndexSpec, OrderedIndex}
import thetajoin.kit.keys.KeyedNumbers

/**
 * Vectors, as arrays of floating-point numbers. A key row has the keys that must be equal, then the vector, then on the probe side the bound if
 * there is one.
 *
 * @param keys how many columns must be equal
 * @param asked what is asked of pairs
 */
private[vector] final case class VectorsSpec(keys: Int, asked: Asked) extends IndexSpec {

  /** Many probe vectors meet a build vector while it is in a cache. */
  override def asksTogether: Boolean = true

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new VectorsBuilder(this, keyTypes.take(keys))
}

/**
 * What is asked of pairs of vectors: that a [[Similarity]] is on this side of a bound, or the first of them in its order, or both.
 *
 * @param isCosine whether vectors of length 1 are compared
 * @param isDistance whether the distance counts, and not the product
 * @param bound how the value that is compared with a bound follows from the measure; null without a bound
 * @param rank the same of the value that ranks matches; null if they are not ranked
 * @param isDescending whether the highest ranks come first
 * @param most how many matches are asked for
 */
private[vector] final case class Asked(
    isCosine: Boolean,
    isDistance: Boolean,
    bound: Line,
    rank: Line,
    isDescending: Boolean,
    most: Int
)

/** `offset + sign * x` of a measure x. */
private[vector] final case class Line(sign: Int, offset: Double) {
  def apply(x: Double): Double = offset + sign * x
  def inverse(y: Double): Double = sign * (y - offset)
}

private final class VectorsBuilder(spec: VectorsSpec, types: Seq[DataType]) extends IndexBuilder {
  private val keys = new KeyedNumbers(types, values = 0)
  private val vectors = mutable.ArrayBuffer.empty[Array[Float]]
  private val places = new mutable.ArrayBuilder.ofByte

  override def add(row: InternalRow): Unit = {
    keys.add(row)
    val array = row.getArray(types.size)
    vectors += array.toFloatArray()
    places.addOne(if (VectorKind.hasNull(array)) 1 else 0)
  }

  override def finish(): OrderedIndex = {
    val dimensions = mostFrequentLength
    val hasNull = places.result()
    val norms = vectors.iterator.map(VectorKind.norm).toArray
    def isUsual(row: Int) = vectors(row).length == dimensions && dimensions > 0 &&
      (hasNull(row) != 0 || norms(row) <= VectorKind.LongestNorm)
    val grouped = keys.grouped()
    // Without keys there is one group, be it empty.
    val starts = if (types.isEmpty) Array(0, grouped.order.length) else grouped.starts
    val order = new Array[Int](grouped.order.length)
    val unusual = new Array[Int](starts.length - 1)
    for (group <- unusual.indices) {
      val rows = grouped.order.slice(starts(group), starts(group + 1))
      val (first, last) = rows.partition(isUsual)
      (first ++ last).copyToArray(order, starts(group))
      unusual(group) = starts(group) + first.length
    }
    def isComparable(row: Int) =
      isUsual(row) && hasNull(row) == 0 && (norms(row) > 0 || !spec.asked.isCosine)
    val longest =
      order.iterator.filter(isComparable).map(norms(_)).maxOption.filter(_ > 0).getOrElse(1.0)
    val panels = new Panels(dimensions, order.length)
    val taken =
      Array.fill(Panels.rounded(order.length) * Products.LANES)(Float.PositiveInfinity)
    for (position <- order.indices; row = order(position) if isComparable(row)) {
      val scale = 1 / (if (spec.asked.isCosine) norms(row) else longest)
      panels.put(position, vectors(row), scale)
      val length = norms(row) * scale
      taken(position) = if (spec.asked.isDistance) (length * length / 2).toFloat else 0f
    }
    val index =
      new Vectors(keys.groups, starts, unusual, panels, taken, 1 / longest, types.size, spec.asked)
    OrderedIndex(index, order)
  }

  /** Vectors of other lengths can't be compared with these, which Spark tells in an error. */
  private def mostFrequentLength: Int = {
    val counts = vectors.iterator.map(_.length).foldLeft(Map.empty[Int, Int]) { (counts, length) =>
      counts.updated(length, counts.getOrElse(length, 0) + 1)
    }
    if (counts.isEmpty) 0 else counts.maxBy { case (length, count) => (count, length) }._1
  }
}
