package thetajoin.accelerator.vector

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{Batches, IndexBuilder, IndexSpec, OrderedIndex}
import thetajoin.kit.keys.{Grouping, KeyedNumbers}

/**
 * Vectors, as arrays of floating-point numbers. A key row has the keys that must be equal, then the vector, then on
 * the probe side the bound if there is one.
 *
 * @param keys how many columns must be equal
 * @param asked which pairs are asked for
 */
private[vector] final case class VectorsSpec(keys: Int, asked: Asked) extends IndexSpec {

  /** Many probe vectors meet a build vector while it is in a cache. */
  override def batches: Option[Batches] =
    Some(Batches(bounds = 0, rows = 6 * VectorProber.MostSlots))

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new VectorsBuilder(this, keyTypes.take(keys))
}

private final class VectorsBuilder(spec: VectorsSpec, types: Seq[DataType]) extends IndexBuilder {
  import VectorsBuilder._

  private val keys = new KeyedNumbers(types, values = 0)
  private val vectors = mutable.ArrayBuffer.empty[Array[Float]]
  private val nulls = new mutable.ArrayBuilder.ofBoolean
  private var coordinates = 0L

  override def add(row: InternalRow): Unit = {
    keys.add(row)
    val array = row.getArray(types.size)
    vectors += array.toFloatArray()
    coordinates += vectors.last.length
    nulls.addOne(Coordinates.hasNull(array))
  }

  /**
   * Each vector is released when it has been placed, so none is there twice. Besides, there are two lengths of it,
   * and row numbers in two orders.
   */
  override def bytes: Long =
    keys.bytes + 4 * coordinates + (BytesOfVector + 8L + 4L + 2 * 4L) * vectors.length

  override def finish(): OrderedIndex = {
    val dimensions = mostFrequentLength
    val hasNull = nulls.result()
    val norms = new Array[Double](vectors.length)
    for (row <- norms.indices) norms(row) = Coordinates.norm(vectors(row))
    // A few that are much longer would make the scores of all others coarse.
    val longestUsual =
      if (spec.asked.isCosine) Double.MaxValue else MuchLonger * quantile(norms, Most)
    def isUsual(row: Int) = vectors(row).length == dimensions && dimensions > 0 &&
      (hasNull(row) || spec.asked.isUsual(norms(row)) && norms(row) <= longestUsual)
    val Grouping(starts, order) = keys.grouped(usualFirst(isUsual))
    val unusual = Array.tabulate(starts.length - 1) { group =>
      var position = starts(group)
      while (position < starts(group + 1) && isUsual(order(position))) position += 1
      position
    }
    def isComparable(row: Int) =
      isUsual(row) && !hasNull(row) && (norms(row) > 0 || !spec.asked.isCosine)
    var longest = 0.0
    order.foreach(row => if (isComparable(row)) longest = math.max(longest, norms(row)))
    if (longest == 0) longest = 1.0
    val panels = new Panels(dimensions, order.length)
    val taken = new Array[Float](Panels.rounded(order.length) * Products.LANES)
    java.util.Arrays.fill(taken, Float.PositiveInfinity)
    for (position <- order.indices) {
      val row = order(position)
      panels.reach(position)
      if (isComparable(row)) {
        val scale = 1 / (if (spec.asked.isCosine) norms(row) else longest)
        panels.put(position, vectors(row), scale)
        val length = norms(row) * scale
        taken(position) = if (spec.asked.isDistance) (length * length / 2).toFloat else 0f
      }
      // A copy of each is in memory for no longer than it takes to place it.
      vectors(row) = null
    }
    val rows = new VectorRows(
      keys.groups,
      starts,
      unusual,
      panels,
      taken,
      1 / longest,
      types.size,
      spec.asked
    )
    OrderedIndex(new Vectors(rows), order)
  }

  private def quantile(norms: Array[Double], share: Double): Double = {
    val sorted = norms.filter(_ <= Double.MaxValue).sorted
    if (sorted.isEmpty) 0.0 else sorted(((sorted.length - 1) * share).toInt)
  }

  /** The rows, the usual ones before the others. */
  private def usualFirst(isUsual: Int => Boolean): Array[Int] = {
    val rows = new Array[Int](vectors.length)
    var first = 0
    var last = rows.length
    for (row <- rows.indices)
      if (isUsual(row)) {
        rows(first) = row
        first += 1
      } else {
        last -= 1
        rows(last) = row
      }
    rows
  }

  /** Vectors of other lengths can't be compared with these, which Spark tells in an error. */
  private def mostFrequentLength: Int = {
    val counts = vectors.groupMapReduce(_.length)(_ => 1)(_ + _)
    if (counts.isEmpty) 0 else counts.maxBy { case (length, count) => (count, length) }._1
  }
}

private object VectorsBuilder {

  /** The bytes of an array besides its coordinates, with the reference to it. */
  private val BytesOfVector = 24L

  /** Few vectors are longer than so many times most of the others. */
  private val MuchLonger = 16.0
  private val Most = 0.99
}
