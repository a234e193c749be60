package thetajoin.kit.keys

import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{BytesMembership, BytesProber, JoinIndex, Prober, SingleRunProber}
import thetajoin.kit.{KeyTypes, LongOrder}
import thetajoin.rowstore.RowPages

/** For keys that don't fit 64 bits: two are equal if their bytes are. Groups stand in order of arrival. */
private[thetajoin] final class GroupedBytesBuilder(types: Seq[DataType], distinct: Boolean)
    extends GroupingBuilder {
  private val bytes = KeyBytes(types)
  private var table: KeyTableBuilder =
    if (KeyBytes.isSingle(types)) new ShortTableBuilder else new ByteTableBuilder
  private var groupOfRow = new Array[Int](64)
  private val firsts = new mutable.ArrayBuilder.ofInt
  private var rows = 0

  /** The number of a key's group, the next one if it is new; nothing else is kept of its row. */
  def groupOf(key: UnsafeRow): Int =
    groupOf(key.getBaseObject, bytes.offset(key), bytes.size(key))

  /** The same of a key whose bytes are given. */
  def groupOf(base: AnyRef, offset: Long, size: Int): Int = {
    table match {
      case short: ShortTableBuilder if !ShortTable.isShort(size) => table = short.lengthened()
      case _ =>
    }
    table.groupOf(base, offset, size)
  }

  /** What finds a key's group. */
  def keyTable(): KeyTable = table.result()

  def size: Int = table.groups

  override def add(row: InternalRow): Unit = {
    val known = table.groups
    val group = groupOf(row.asInstanceOf[UnsafeRow])
    if (group == known) firsts.addOne(rows)
    if (!distinct) {
      if (rows == groupOfRow.length)
        groupOfRow = Arrays.copyOf(groupOfRow, LongOrder.grown(rows))
      groupOfRow(rows) = group
    }
    rows += 1
  }

  /** What the keys take, without the table. */
  def keyBytes: Long = table.keyBytes

  override def grouped(): Grouping =
    if (distinct) Grouping(null, firsts.result())
    else Grouping.of(groupStarts(), groupOfRow, rows, identity)

  /** After all rows: the keys of groups, if they are more than one value. */
  def groupKeys(): RowPages = table match {
    case rows: ByteTableBuilder => RowPages.of(rows.rows(types.size), types)
    case _ => throw new IllegalStateException("a key of one value is not a row")
  }

  override def index(starts: Array[Int]): JoinIndex =
    new GroupedBytes(table.result(), starts, bytes)

  override def groups: Groups = Groups.OfBytes(table.result(), KeyTypes(types))

  private def groupStarts(): Array[Int] = {
    val starts = new Array[Int](table.groups + 1)
    var i = 0
    while (i < rows) {
      starts(groupOfRow(i) + 1) += 1
      i += 1
    }
    i = 0
    while (i < table.groups) {
      starts(i + 1) += starts(i)
      i += 1
    }
    starts
  }
}

/**
 * Runs of equal keys: the rows of group g are `[starts(g), starts(g + 1))`.
 *
 * @param starts null if each group is one row
 */
final class GroupedBytes(table: KeyTable, starts: Array[Int], keyBytes: KeyBytes)
    extends JoinIndex
    with BytesMembership {
  override def bytes: Long = table.bytes + (if (starts == null) 0L else 4L * starts.length)
  override def newProber(): Prober = new GroupedBytesProber(table, starts, keyBytes)
  override def contains(base: AnyRef, offset: Long, size: Int): Boolean =
    table.contains(base, offset, size)
}

private final class GroupedBytesProber(table: KeyTable, starts: Array[Int], keyBytes: KeyBytes)
    extends SingleRunProber
    with BytesProber {
  override def probe(row: InternalRow): Unit = {
    val key = row.asInstanceOf[UnsafeRow]
    probe(key.getBaseObject, keyBytes.offset(key), keyBytes.size(key))
  }

  override def probe(base: AnyRef, offset: Long, size: Int): Unit = {
    val group = table.find(base, offset, size)
    if (group < 0) run(0, 0)
    else if (starts == null) run(group, group + 1)
    else run(starts(group), starts(group + 1))
  }
}
