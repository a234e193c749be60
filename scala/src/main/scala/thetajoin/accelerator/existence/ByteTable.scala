package thetajoin.accelerator.existence

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

import thetajoin.accelerator.LongOrder

/**
 * Numbers keys by their bytes. A slot that is not 0 has the hash of a key above, and below where its record starts, plus 1.
 * A record is a word with the key's size above and its number below, then its bytes:
 *
 * {{{
 *   slots     0 | hash, 1 | 0 | hash, 3 | ...
 *   records   [6, 0] 'key-12' [9, 1] 'key-' '12345' ...
 * }}}
 *
 * A look-up that finds its key touches a slot and a record, which may both have to come from memory. Most keys that are not
 * there are turned away by a bit of `filter`, which is small enough to stay in the cache for longer.
 */
final class ByteTable(
    slots: Array[Long],
    records: Array[Long],
    filter: Array[Long]
) extends Serializable {
  private val filterShift = LongHash.shift(filter.length * java.lang.Long.SIZE)

  def bytes: Long = 8L * (slots.length.toLong + records.length + filter.length)

  /** The number of a key, -1 if there is none. */
  def find(base: AnyRef, offset: Long, size: Int): Int = {
    val hash = KeyBytes.hash(base, offset, size)
    val bit = LongHash.slot(hash.toLong, filterShift)
    if (((filter(bit >>> 6) >>> bit) & 1L) == 0L) -1
    else
      ByteTable.number(slots, records, ByteTable.search(slots, records, hash, base, offset, size))
  }
}

private[existence] final class ByteTableBuilder {
  private var slots = new Array[Long](1 << 10)
  private var records = new Array[Long](1 << 10)
  private var used = 0
  private var count = 0

  /** What the records take. */
  def keyBytes: Long = 8L * used

  /** How many keys there are. */
  def groups: Int = count

  /** The number of a key, the next one if it is new. */
  def groupOf(base: AnyRef, offset: Long, size: Int): Int = {
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
        var at = ByteTable.slot(ByteTable.hash(entry), larger.length)
        while (larger(at) != 0L) at = (at + 1) & (larger.length - 1)
        larger(at) = entry
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
      val size = (records(record) >>> 32).toInt
      row.pointTo(records, ByteTable.offset(record), size)
      record += ByteTable.words(size)
      row
    }
  }

  def result(): ByteTable = new ByteTable(slots, Arrays.copyOf(records, used), filter())

  /** Four bits for a slot, so that at most one of eight is set. */
  private def filter(): Array[Long] = {
    val size = math.min(slots.length / (java.lang.Long.SIZE / 4), ByteTable.MaxFilterWords)
    val words = new Array[Long](size)
    val shift = LongHash.shift(words.length * java.lang.Long.SIZE)
    slots.foreach { entry =>
      if (entry != 0L) {
        val bit = LongHash.slot(ByteTable.hash(entry).toLong, shift)
        words(bit >>> 6) |= 1L << bit
      }
    }
    words
  }
}

private[existence] object ByteTable {

  /** The bits of these are numbered by an int. */
  val MaxFilterWords: Int = 1 << 24

  def hash(entry: Long): Int = (entry >>> 32).toInt

  /** The hash is mixed again, since its lowest bits choose a shuffle's partition. */
  def slot(hash: Int, capacity: Int): Int = LongHash.slot(hash.toLong, LongHash.shift(capacity))

  /** Where the bytes of a record start. */
  def offset(record: Int): Long = Platform.LONG_ARRAY_OFFSET + 8L * (record + 1)

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
    var at = slot(hash, slots.length)
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
    this.hash(entry) == hash && (records(record) >>> 32).toInt == size &&
    ByteArrayMethods.arrayEquals(records, this.offset(record), base, offset, size.toLong)
  }

  /** The number of the key in a slot, -1 if it is empty. */
  def number(slots: Array[Long], records: Array[Long], at: Int): Int =
    if (slots(at) == 0L) -1 else records(slots(at).toInt - 1).toInt
}
