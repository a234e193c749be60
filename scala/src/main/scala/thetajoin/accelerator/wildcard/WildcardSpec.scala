package thetajoin.accelerator.wildcard

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.contract.{IndexBuilder, IndexSpec, OrderedIndex}
import thetajoin.kit.keys.{GroupedBytesBuilder, ValueNumbering}
import thetajoin.kit.{IntsBuilder, KeyTypes}

/**
 * A key row of a rule has the values of its columns, then a mask with a bit for each of the first `open` columns, set
 * if that is open: the highest for the first. A probe key row has values only. A null matches nothing unless the
 * column is open.
 */
final case class WildcardSpec(open: Int) extends IndexSpec {
  override def takesNulls: Boolean = true
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new WildcardBuilder(open, keyTypes.init)
}

private[wildcard] object WildcardSpec {

  /** Of columns that may be open and columns that never are: a set has a bit for each, and is no negative number. */
  val MostColumns: Int = java.lang.Long.SIZE - 1
}

private final class WildcardBuilder(open: Int, types: Seq[DataType]) extends IndexBuilder {
  private val columns = types.map(t => new ValueNumbering(t == LongType)).toArray
  private val readers = ColumnReader.ofAll(types)
  private val groups =
    new GroupedBytesBuilder(types.map(_ => LongType) :+ LongType, distinct = false)
  private val group = UnsafeProjection.create(Array.fill[DataType](types.size + 1)(LongType))
  private val fields = new Array[Any](types.size + 1)
  private val grouped, others = new IntsBuilder
  private var rows = 0

  override def add(keys: InternalRow): Unit = {
    val mask = keys.getLong(types.size)
    var isMatchable = true
    var i = 0
    while (i < columns.length) {
      val isOpen = i < open && ((mask >>> (open - 1 - i)) & 1L) != 0L
      if (isOpen) fields(i) = WildcardIndex.Open
      else if (keys.isNullAt(i)) isMatchable = false
      else fields(i) = readers(i).numberOf(keys, columns(i)).toLong
      i += 1
    }
    if (isMatchable) {
      fields(columns.length) = mask
      groups.add(group(InternalRow.fromSeq(fields.toSeq)))
      grouped.add(rows)
    } else others.add(rows)
    rows += 1
  }

  /** For a group its hash and its numbers are held as well, and for all other rows row numbers. */
  override def bytes: Long =
    columns.map(_.allBytes).sum + 2 * groups.bytes + 2 * (grouped.bytes + others.bytes)

  override def finish(): OrderedIndex = {
    val ofGroups = groups.grouped()
    val values = columns.map(_.result())
    val numbers = new IntsBuilder
    val pages = groups.groupKeys()
    val cursor = pages.newCursor()
    val masks = mutable.LinkedHashSet.empty[Long]
    for (g <- 0 until pages.rows) {
      cancellation.count(columns.length)
      val key = cursor.at(g)
      columns.indices.foreach(i => numbers.add(columns(i).renumbered(key.getLong(i).toInt)))
      masks += compared(key.getLong(columns.length))
    }
    val index = WildcardIndex(
      values,
      KeyTypes(types),
      ComparedSets(masks.toArray),
      numbers.result(),
      ofGroups.starts
    )
    val order = ofGroups.order.map(grouped.array(_)) ++ others.result()
    OrderedIndex(index, order)
  }

  /** A bit for each column that is compared, the lowest for the first. */
  private def compared(mask: Long): Long =
    columns.indices.filterNot(i => i < open && ((mask >>> (open - 1 - i)) & 1L) != 0L)
      .foldLeft(0L)((bits, i) => bits | (1L << i))
}
