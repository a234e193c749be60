package thetajoin.kit.keys

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

import thetajoin.kit.LongOrder

/**
 * Keys of any length. A slot that is not 0 has the hash of a key above, and below where its record starts, plus 1.
 * A record is a word with the key's size above and its number below, then its bytes:
 *
 * {{{
 *   slots     0 | hash, 1 | 0 | hash, 3 | ...
 *   records   [6, 0] 'key-12' [9, 1] 'key-' '12345' ...
 * }}}
 *
 * A look-up that finds its key touches a slot and a record, which may both have to come from memory.
 */
private[thetajoin] final class ByteTable(
    slots: Array[Long],
    records: Array[Long],
    filter: KeyFilter
) extends KeyTable {
  override def bytes: Long = 8L * (slots.length.toLong + records.length) + filter.bytes

  override def find(base: AnyRef, offset: Long, size: Int): Int = {
    val at = slot(base, offset, size)
    if (at < 0) -1 else ByteTable.number(slots, records, at)
  }

  override def contains(base: AnyRef, offset: Long, size: Int): Boolean = {
    val at = slot(base, offset, size)
    at >= 0 && slots(at) != 0L
  }

  private def writeReplace(): AnyRef = new ByteKeys(records)

  /** Where the search for a key ends, -1 without one. */
  private def slot(base: AnyRef, offset: Long, size: Int): Int = {
    val hash = KeyBytes.hash(base, offset, size)
    if (filter.mayContain(hash.toLong))
      ByteTable.search(slots, records, hash, base, offset, size)
    else -1
  }
}

/** A table on its way: the records of its keys. */
private final class ByteKeys(records: Array[Long]) extends Serializable {
  private def readResolve(): AnyRef = {
    val table = new ByteTableBuilder
    var record = 0
    while (record < records.length) {
      val size = ByteTable.size(records, record)
      table.numberOf(records, ByteTable.offset(record), size): Unit
      record += ByteTable.words(size)
    }
    table.result()
  }
}

private[keys] final class ByteTableBuilder {
  private var slots = new Array[Long](1 << 10)
  private var records = new Array[Long](1 << 10)
  private var used = 0
  private var count = 0

  def bytes: Long = 8L * used
  def size: Int = count

  def numberOf(base: AnyRef, offset: Long, size: Int): Int = {
    val hash = KeyBytes.hash(base, offset, size)
    val at = ByteTable.search(slots, records, hash, base, offset, size)
    if (slots(at) != 0L) ByteTable.number(slots, records, at)
    else {
      slots(at) = (hash.toLong << 32) | (used + 1)
      append(base, offset, size)
      if (count > slots.length / 2) grow()
      count - 1
    }
  }

  private def append(base: AnyRef, offset: Long, size: Int): Unit = {
    val end = Math.addExact(used, ByteTable.words(size))
    if (end > records.length)
      records = Arrays.copyOf(records, math.max(end, LongOrder.grown(records.length)))
    records(used) = (size.toLong << 32) | count
    Platform.copyMemory(base, offset, records, ByteTable.offset(used), size.toLong)
    used = end
    count += 1
  }

  private def grow(): Unit = {
    val larger = new Array[Long](Math.multiplyExact(slots.length, 2))
    slots.foreach { entry =>
      if (entry != 0L) {
        val hash = ByteTable.hash(entry)
        larger(ByteTable.search(larger, records, hash, null, 0L, ByteTable.NoSize)) = entry
      }
    }
    slots = larger
  }

  /** The keys as rows, by number; the same row object each time. */
  def rows(fields: Int): Iterator[UnsafeRow] = new Iterator[UnsafeRow] {
    private val row = new UnsafeRow(fields)
    private var record = 0
    override def hasNext: Boolean = record < used
    override def next(): UnsafeRow = {
      val size = ByteTable.size(records, record)
      row.pointTo(records, ByteTable.offset(record), size)
      record += ByteTable.words(size)
      row
    }
  }

  def result(): ByteTable = {
    val filter = KeyFilter.of(count)
    slots.foreach(entry => if (entry != 0L) filter.add(ByteTable.hash(entry).toLong))
    new ByteTable(slots, Arrays.copyOf(records, used), filter)
  }
}

private[keys] object ByteTable {

  /** No key has it: the search for one ends at an empty slot. */
  final val NoSize = -1

  def hash(entry: Long): Int = (entry >>> 32).toInt

  /** Where the bytes of a record start. */
  def offset(record: Int): Long = Platform.LONG_ARRAY_OFFSET + 8L * (record + 1)

  /** How many bytes the key of a record has. */
  def size(records: Array[Long], record: Int): Int = (records(record) >>> 32).toInt

  /** How long a record is for a key of `size` bytes. */
  def words(size: Int): Int = 1 + (size + 7) / 8

  /** Where a key's slot is, or the empty slot in which the search for it ends. */
  def search(
      slots: Array[Long],
      records: Array[Long],
      hash: Int,
      base: AnyRef,
      offset: Long,
      size: Int
  ): Int = {
    // Mixed again, since the lowest bits of a hash choose a shuffle's partition.
    var at = LongHash.slot(hash.toLong, LongHash.shift(slots.length))
    while (slots(at) != 0L && !isOf(slots(at), records, hash, base, offset, size))
      at = (at + 1) & (slots.length - 1)
    at
  }

  private def isOf(
      entry: Long,
      records: Array[Long],
      hash: Int,
      base: AnyRef,
      offset: Long,
      size: Int
  ): Boolean = {
    val record = entry.toInt - 1
    this.hash(entry) == hash && this.size(records, record) == size &&
    ByteArrayMethods.arrayEquals(records, this.offset(record), base, offset, size.toLong)
  }

  /** The number of the key in a slot, -1 if it is empty. */
  def number(slots: Array[Long], records: Array[Long], at: Int): Int =
    if (slots(at) == 0L) -1 else records(slots(at).toInt - 1).toInt
}
