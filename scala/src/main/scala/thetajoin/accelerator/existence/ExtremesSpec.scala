package thetajoin.accelerator.existence

import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types._

import thetajoin.accelerator._

/**
 * Equal keys beside one comparison, where only existence is asked: of the rows of a key, one with the lowest value and one
 * with the highest are kept, as the comparison needs them. A key row has the keys, then the value.
 *
 * {{{
 *   a.k = b.k AND b.w > a.v     the highest w of each k: if any is above v, it is
 *   a.k = b.k AND b.w <> a.v    the lowest and the highest: if any differs from v, one of them does
 * }}}
 */
final case class ExtremesSpec(lowest: Boolean, highest: Boolean) extends IndexSpec {
  override def keyErrors: KeyErrors = KeyErrors.Raised

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = new ExtremesBuilder(
    this,
    keyTypes.init match {
      case Seq(LongType) => new GroupedLongsBuilder
      case types => new GroupedBytesBuilder(types, distinct = false)
    },
    keyTypes.init
  )
}

private final class ExtremesBuilder(
    spec: ExtremesSpec,
    groups: GroupingBuilder,
    types: Seq[DataType]
) extends IndexBuilder {
  private val keysOf = UnsafeProjection.create(types.toArray)
  private var values = new Array[Long](64)
  private var rows = 0

  override def add(row: InternalRow): Unit = {
    groups.add(keysOf(row))
    if (rows == values.length) values = Arrays.copyOf(values, LongOrder.grown(rows))
    values(rows) = row.getLong(types.size)
    rows += 1
  }

  override def finish(): OrderedIndex = {
    val all = groups.grouped()
    val starts = new Array[Int](all.starts.length)
    val kept = new mutable.ArrayBuilder.ofInt
    var group = 0
    while (group + 1 < starts.length) {
      val (low, high) = extremes(all.order, all.starts(group), all.starts(group + 1))
      if (spec.lowest) kept += low
      if (spec.highest && !(spec.lowest && values(low) == values(high))) kept += high
      group += 1
      starts(group) = kept.length
    }
    OrderedIndex(groups.index(starts), kept.result())
  }

  /** The rows with the lowest and the highest value of those that stand in `order` from `from` on. */
  private def extremes(order: Array[Int], from: Int, until: Int): (Int, Int) = {
    var low = order(from)
    var high = low
    var i = from + 1
    while (i < until) {
      val row = order(i)
      if (values(row) < values(low)) low = row
      if (values(row) > values(high)) high = row
      i += 1
    }
    (low, high)
  }
}
