package thetajoin.accelerator.existence

import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.DataType

import thetajoin.accelerator._
import thetajoin.rowstore.RowPages

/** For keys that don't fit 64 bits: two are equal if their bytes are. Groups stand in order of arrival. */
private[existence] final class GroupedBytesBuilder(types: Seq[DataType], distinct: Boolean)
    extends IndexBuilder {
  private val bytes = KeyBytes(types)
  private val keys = mutable.ArrayBuffer.empty[UnsafeRow]
  private var slots = new Array[Long](1 << 10)
  private var groupOf = new Array[Int](64)
  private val firsts = new mutable.ArrayBuilder.ofInt
  private var rows = 0

  /** Whether a key is new; nothing else is kept of its row. */
  def addKey(key: UnsafeRow): Boolean = {
    val known = keys.size
    groupNumber(key) == known
  }

  override def add(row: InternalRow): Unit = {
    val known = keys.size
    val group = groupNumber(row.asInstanceOf[UnsafeRow])
    if (group == known) firsts += rows
    if (!distinct) {
      if (rows == groupOf.length) groupOf = Arrays.copyOf(groupOf, LongOrder.grown(rows))
      groupOf(rows) = group
    }
    rows += 1
  }

  private def groupNumber(key: UnsafeRow): Int = {
    val (base, offset, size) = (key.getBaseObject, bytes.offset(key), bytes.size(key))
    val hash = KeyBytes.hash(base, offset, size)
    val mask = slots.length - 1
    var at = ByteTable.slot(hash, slots.length)
    while (slots(at) != 0L) {
      val group = ByteTable.group(slots(at))
      if (ByteTable.hash(slots(at)) == hash && bytes.equal(keys(group), base, offset, size))
        return group
      at = (at + 1) & mask
    }
    slots(at) = ByteTable.entry(hash, keys.size)
    keys += key.copy()
    if (keys.size > slots.length / 2) grow()
    keys.size - 1
  }

  private def grow(): Unit = {
    val larger = new Array[Long](Math.multiplyExact(slots.length, 2))
    slots.foreach { entry =>
      if (entry != 0L) {
        var at = ByteTable.slot(ByteTable.hash(entry), larger.length)
        while (larger(at) != 0L) at = (at + 1) & (larger.length - 1)
        larger(at) = entry
      }
    }
    slots = larger
  }

  override def finish(): OrderedIndex = {
    val found = groups()
    OrderedIndex(new GroupedBytes(found.table, found.starts, bytes), found.order)
  }

  def groups(): Groups = {
    val table = new ByteTable(slots, RowPages.of(keys.iterator, types))
    if (distinct) Groups(table, null, firsts.result())
    else {
      val starts = groupStarts()
      Groups(table, starts, order(starts))
    }
  }

  private def groupStarts(): Array[Int] = {
    val starts = new Array[Int](keys.size + 1)
    var i = 0
    while (i < rows) {
      starts(groupOf(i) + 1) += 1
      i += 1
    }
    i = 0
    while (i < keys.size) {
      starts(i + 1) += starts(i)
      i += 1
    }
    starts
  }

  private def order(starts: Array[Int]): Array[Int] = {
    val next = starts.clone()
    val order = new Array[Int](rows)
    var i = 0
    while (i < rows) {
      order(next(groupOf(i))) = i
      next(groupOf(i)) += 1
      i += 1
    }
    order
  }
}

/** What is found of rows: their distinct keys, where the rows of each start, and all rows in that order. */
private[existence] final case class Groups(
    table: ByteTable,
    starts: Array[Int],
    order: Array[Int]
)

/** Groups by the bytes of their keys. A slot holds the hash of a key and above 0 the number of its group plus 1. */
final class ByteTable(val slots: Array[Long], val keys: RowPages) extends Serializable {
  def bytes: Long = 8L * slots.length + keys.bytes
}

private[existence] object ByteTable {
  def entry(hash: Int, group: Int): Long = (hash.toLong << 32) | (group + 1)
  def hash(entry: Long): Int = (entry >>> 32).toInt
  def group(entry: Long): Int = entry.toInt - 1

  /** The hash is mixed again, since its lowest bits choose a shuffle's partition. */
  def slot(hash: Int, capacity: Int): Int = LongHash.slot(hash.toLong, LongHash.shift(capacity))
}

/**
 * Runs of equal keys: the rows of group g are `[starts(g), starts(g + 1))`.
 *
 * @param starts null if each group is one row
 */
final class GroupedBytes(table: ByteTable, starts: Array[Int], keyBytes: KeyBytes)
    extends JoinIndex {
  override def bytes: Long = table.bytes + (if (starts == null) 0L else 4L * starts.length)
  override def newProber(): Prober = new GroupedBytesProber(table, starts, keyBytes)
}

private final class GroupedBytesProber(table: ByteTable, starts: Array[Int], keyBytes: KeyBytes)
    extends SingleRunProber
    with BytesProber {
  private val slots = table.slots
  private val cursor = table.keys.newCursor()

  override def probe(row: InternalRow): Unit = {
    val key = row.asInstanceOf[UnsafeRow]
    probe(key.getBaseObject, keyBytes.offset(key), keyBytes.size(key))
  }

  override def probe(base: AnyRef, offset: Long, size: Int): Unit = {
    val group = find(base, offset, size)
    if (group < 0) run(0, 0)
    else if (starts == null) run(group, group + 1)
    else run(starts(group), starts(group + 1))
  }

  private def find(base: AnyRef, offset: Long, size: Int): Int = {
    val hash = KeyBytes.hash(base, offset, size)
    val mask = slots.length - 1
    var at = ByteTable.slot(hash, slots.length)
    while (slots(at) != 0L) {
      val group = ByteTable.group(slots(at))
      if (ByteTable.hash(slots(at)) == hash && keyBytes.equal(cursor.at(group), base, offset, size))
        return group
      at = (at + 1) & mask
    }
    -1
  }
}
