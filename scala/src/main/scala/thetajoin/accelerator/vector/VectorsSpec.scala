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
 * @param areSingle whether the function adds up in 32 bits
 */
private[vector] final case class Asked(
    isCosine: Boolean,
    isDistance: Boolean,
    bound: Line,
    rank: Line,
    isDescending: Boolean,
    most: Int,
    areSingle: Boolean
) {

  /**
   * Whether the function gives for vectors of this length what is expected of it. Products of longer ones may be infinite as numbers of 32 bits, and so equal; if
   * it adds up in 32 bits, squares of lengths are multiplied as well.
   */
  def isUsual(length: Double): Boolean =
    if (areSingle) length == 0 || length >= 1e-9 && length <= 4e9 else length <= 1e18

  /** By how much a score may be off, in parts of the lengths of both vectors. */
  def slack(dimensions: Int): Double =
    (if (areSingle) 2.0 * dimensions + 48 else dimensions + 16.0) * Single

  /** By how much a value of the function may be rounded, in parts of it. */
  def rounding(dimensions: Int): Double =
    (if (areSingle) dimensions / 8 + 12 else 4) * Single

  private def Single: Double = math.pow(2, -24)
}

/** `offset + sign * x` of a measure x. */
private[vector] final case class Line(sign: Int, offset: Double) {
  def apply(x: Double): Double = offset + sign * x
  def inverse(y: Double): Double = sign * (y - offset)
}

private final class VectorsBuilder(spec: VectorsSpec, types: Seq[DataType]) extends IndexBuilder {
  import VectorsBuilder._

  private val keys = new KeyedNumbers(types, values = 0)
  private val vectors = mutable.ArrayBuffer.empty[Array[Float]]
  private val nulls = new mutable.ArrayBuilder.ofBoolean

  override def add(row: InternalRow): Unit = {
    keys.add(row)
    val array = row.getArray(types.size)
    vectors += array.toFloatArray()
    nulls.addOne(VectorKind.hasNull(array))
  }

  override def finish(): OrderedIndex = {
    val dimensions = mostFrequentLength
    val hasNull = nulls.result()
    val norms = vectors.iterator.map(VectorKind.norm).toArray
    // A few that are much longer would make the scores of all others coarse.
    val longestUsual =
      if (spec.asked.isCosine) Double.MaxValue else MuchLonger * quantile(norms, Most)
    def isUsual(row: Int) = vectors(row).length == dimensions && dimensions > 0 &&
      (hasNull(row) || spec.asked.isUsual(norms(row)) && norms(row) <= longestUsual)
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
      isUsual(row) && !hasNull(row) && (norms(row) > 0 || !spec.asked.isCosine)
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

  private def quantile(norms: Array[Double], share: Double): Double = {
    val sorted = norms.filter(_ <= Double.MaxValue).sorted
    if (sorted.isEmpty) 0.0 else sorted(((sorted.length - 1) * share).toInt)
  }

  /** Vectors of other lengths can't be compared with these, which Spark tells in an error. */
  private def mostFrequentLength: Int = {
    val counts = vectors.iterator.map(_.length).foldLeft(Map.empty[Int, Int]) { (counts, length) =>
      counts.updated(length, counts.getOrElse(length, 0) + 1)
    }
    if (counts.isEmpty) 0 else counts.maxBy { case (length, count) => (count, length) }._1
  }
}

private object VectorsBuilder {

  /** Few are longer than so many times what most are. */
  private val MuchLonger = 16.0
  private val Most = 0.99
}
