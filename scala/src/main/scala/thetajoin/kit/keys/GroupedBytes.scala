package thetajoin.kit.keys

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{BytesLookup, BytesProber, JoinIndex, Prober, SingleRunProber}
import thetajoin.kit.{IntsBuilder, KeyTypes}
import thetajoin.rowstore.RowPages

/**
 * Groups rows by keys that don't fit 64 bits: two are equal if their bytes are. Groups stand in order of arrival. Key
 * rows are `UnsafeRow`s.
 *
 * @param types of the columns of a key row
 * @param distinct whether the first row of each group is kept, and no other
 */
final class GroupedBytesBuilder(types: Seq[DataType], distinct: Boolean)
    extends GroupingBuilder {
  private val keyBytes = KeyBytes(types)
  private val keys = new BytesNumbering
  private val groupOfRow, firsts = new IntsBuilder
  private var rows = 0

  override def add(row: InternalRow): Unit = {
    val key = row.asInstanceOf[UnsafeRow]
    val known = keys.size
    val group = keys.numberOf(key.getBaseObject, keyBytes.offset(key), keyBytes.size(key))
    if (!distinct) groupOfRow.add(group)
    else if (group == known) firsts.add(rows)
    rows += 1
  }

  /** Each row has its group, its place in the order and, for a while, the start of its group. */
  override def bytes: Long = keys.allBytes + 3 * (groupOfRow.bytes + firsts.bytes)

  override def grouped(): Grouping =
    if (distinct) Grouping(null, firsts.result())
    else Grouping.of(groupStarts(), groupOfRow.array, rows, identity)

  /** After all rows: the keys of groups, if they are not one string or binary. */
  def groupKeys(): RowPages = RowPages.of(keys.rows(types.size), types)

  override def index(starts: Array[Int]): JoinIndex =
    if (distinct) new DistinctBytes(keys.table(), keyBytes)
    else new GroupedBytes(keys.table(), starts, keyBytes)

  override def groups: Groups = Groups.OfBytes(keys.table(), KeyTypes(types))

  private def groupStarts(): Array[Int] = {
    val starts = new Array[Int](keys.size + 1)
    val groups = groupOfRow.array
    var i = 0
    while (i < rows) {
      starts(groups(i) + 1) += 1
      i += 1
    }
    i = 0
    while (i < keys.size) {
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
private[thetajoin] sealed class GroupedBytes(
    table: KeyTable,
    starts: Array[Int],
    keyBytes: KeyBytes
) extends JoinIndex {
  override def bytes: Long = table.bytes + (if (starts == null) 0L else 4L * starts.length)
  override def newProber(): Prober = new GroupedBytesProber(table, starts, keyBytes)
}

/** One row of each key, where any row of the index will do for a probe row. */
private[thetajoin] final class DistinctBytes(table: KeyTable, keyBytes: KeyBytes)
    extends GroupedBytes(table, starts = null, keyBytes)
    with BytesLookup {

  /** Position 0 for every key that is here, which leaves the number of the key unread. */
  override def find(base: AnyRef, offset: Long, size: Int): Int =
    if (table.contains(base, offset, size)) 0 else -1
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
