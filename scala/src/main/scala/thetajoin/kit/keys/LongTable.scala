package thetajoin.kit.keys

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.contract.{JoinIndex, KeyBounds, LongsLookup, LongsProber, Prober, SingleRunProber}

/**
 * Distinct keys of 64 bits. It is an index by itself where only the existence of a key is asked; where more is, keys
 * are numbered from 0 in ascending order.
 */
sealed abstract class LongTable extends JoinIndex with LongsLookup with KeyBounds {
  def contains(key: Long): Boolean

  /** The number of a key, if the table has numbers; -1 if the key is not here. */
  def find(key: Long): Int

  /** Position 0 for every key that is here: any will do. */
  final override def find(keys: Array[Long]): Int = if (contains(keys(0))) 0 else -1

  final override def newProber(): Prober = new LongTableProber(this)
}

private final class LongTableProber(table: LongTable) extends SingleRunProber with LongsProber {
  override def probe(row: InternalRow): Unit = probe(row.getLong(0)): Unit
  override def probe(keys: Array[Long]): Boolean = probe(keys(0))

  private def probe(key: Long): Boolean = {
    val isFound = table.contains(key)
    run(0, if (isFound) 1 else 0)
    isFound
  }
}

object LongTable {

  /** Of keys in ascending order without duplicates, numbered from 0 in that order. */
  def numbered(keys: Array[Long]): LongTable =
    if (keys.nonEmpty && isDense(keys.head, keys.last, keys.length)) {
      val bits = BitWindow.of(keys.head, keys.last)
      keys.foreach(bits.set(_): Unit)
      bits.numbered(keys.last)
    } else HashedLongs.numbered(keys)

  /** Whether a bitmap over the span of some keys takes no more room than a hash table of them. */
  private[keys] def isDense(least: Long, greatest: Long, keys: Int): Boolean = {
    val span = greatest - least
    keys > 0 && span >= 0 && span / BitsForKey < keys
  }

  /** The most that a table takes for a key: four slots with their numbers. */
  private[keys] val BytesOfKey = 4 * (8L + 4L)

  /** A hash table takes at least as much for a key: two slots. */
  private val BitsForKey = 128
}

/**
 * A bitmap over the span of the keys, with the number of the first key of each word. The first bit is the least
 * key's.
 */
private[thetajoin] final class DenseLongs(
    override val least: Long,
    override val greatest: Long,
    words: Array[Long],
    ranks: Array[Int]
) extends LongTable {
  override def bytes: Long = 8L * words.length + 4L * ranks.length

  override def contains(key: Long): Boolean = {
    val bit = key - least
    val word = bit >>> 6
    // Differences wrap around as keys do: a bit stands for one key, whatever the distance.
    bit >= 0 && word < words.length && ((words(word.toInt) >>> bit) & 1L) != 0L
  }

  override def find(key: Long): Int =
    if (!contains(key)) -1
    else {
      val bit = key - least
      val word = (bit >>> 6).toInt
      ranks(word) + java.lang.Long.bitCount(words(word) & ((1L << bit) - 1L))
    }
}

/**
 * An open-addressing hash table, at most half full.
 *
 * @param slots keys at the slots that their hashes say, or at the next free ones
 * @param free the value of a free slot, which is no key
 * @param shift takes a hash to a slot
 */
private[thetajoin] final class HashedLongs(
    override val least: Long,
    override val greatest: Long,
    slots: Array[Long],
    numbers: Array[Int],
    free: Long,
    shift: Int
) extends LongTable {
  override def bytes: Long = 8L * slots.length + 4L * numbers.length

  override def contains(key: Long): Boolean = slots(slot(key)) == key && key != free

  override def find(key: Long): Int = {
    val at = slot(key)
    if (slots(at) == key && key != free) numbers(at) else -1
  }

  private def slot(key: Long): Int = HashedLongs.slot(slots, free, shift, key)

  private def writeReplace(): AnyRef = {
    val keys = slots.filter(_ != free)
    if (numbers.nonEmpty) {
      Arrays.sort(keys)
      new NumberedKeys(keys)
    } else new LongKeys(keys, slots.length, least, greatest, free)
  }
}

/** A table on its way: its keys in ascending order. */
private final class NumberedKeys(keys: Array[Long]) extends Serializable {
  private def readResolve(): AnyRef = LongTable.numbered(keys)
}

/** A table without numbers on its way: its keys in the order of its slots. */
private final class LongKeys(
    keys: Array[Long],
    capacity: Int,
    least: Long,
    greatest: Long,
    free: Long
) extends Serializable {
  private def readResolve(): AnyRef = {
    val (slots, shift) = HashedLongs.slots(keys, free, capacity)
    new HashedLongs(least, greatest, slots, Array.emptyIntArray, free, shift)
  }
}

private[keys] object HashedLongs {

  /** Of keys in ascending order without duplicates. */
  def numbered(keys: Array[Long]): HashedLongs = {
    val free = LongHash.absent(key => Arrays.binarySearch(keys, key) >= 0)
    val (slots, shift) = this.slots(keys, free, LongHash.capacity(keys.length))
    val numbers = new Array[Int](slots.length)
    var i = 0
    while (i < keys.length) {
      numbers(slot(slots, free, shift, keys(i))) = i
      i += 1
    }
    val (least, greatest) =
      if (keys.isEmpty) (Long.MaxValue, Long.MinValue) else (keys.head, keys.last)
    new HashedLongs(least, greatest, slots, numbers, free, shift)
  }

  /** Slots with these keys, and the shift that takes a hash to a slot. */
  def slots(keys: Array[Long], free: Long, capacity: Int): (Array[Long], Int) = {
    val shift = LongHash.shift(capacity)
    val slots = Array.fill(capacity)(free)
    keys.foreach(key => slots(slot(slots, free, shift, key)) = key)
    (slots, shift)
  }

  /** Where a key is, or where it would be. */
  def slot(slots: Array[Long], free: Long, shift: Int, key: Long): Int = {
    val mask = slots.length - 1
    var at = LongHash.slot(key, shift)
    while (slots(at) != key && slots(at) != free) at = (at + 1) & mask
    at
  }
}

/** Bits for the numbers from `base` on. The numbers may wrap around: a bit stands for one number. */
private[keys] final class BitWindow(base: Long, words: Array[Long]) {
  def covers(key: Long): Boolean = {
    val bit = key - base
    bit >= 0 && (bit >>> 6) < words.length
  }

  def has(key: Long): Boolean = {
    val bit = key - base
    ((words((bit >>> 6).toInt) >>> bit) & 1L) != 0L
  }

  /** Whether the bit was not set before. */
  def set(key: Long): Boolean = {
    val bit = key - base
    val (at, mask) = ((bit >>> 6).toInt, 1L << bit)
    val isNew = (words(at) & mask) == 0L
    words(at) |= mask
    isNew
  }

  def foreach(f: Long => Unit): Unit = {
    var at = 0
    while (at < words.length) {
      var word = words(at)
      while (word != 0L) {
        f(base + (at.toLong << 6) + java.lang.Long.numberOfTrailingZeros(word))
        word &= word - 1
      }
      at += 1
    }
  }

  /** A window that spans these numbers as well, with room for more in the direction in which they go on. */
  def widened(from: Long, to: Long): BitWindow = {
    val room = (to - from) / 2
    val end = base + (words.length.toLong << 6) - 1
    val wider =
      if (from - base < 0) BitWindow.of(from - room, end)
      else BitWindow.of(base, to + room)
    foreach(wider.set(_): Unit)
    wider
  }

  /** The numbers as a table without numbers of their own; `base` is the least of them. */
  def table(greatest: Long): DenseLongs =
    new DenseLongs(base, greatest, words, Array.emptyIntArray)

  /** The same with their numbers in ascending order. */
  def numbered(greatest: Long): DenseLongs = {
    val ranks = new Array[Int](words.length)
    var i = 1
    while (i < words.length) {
      ranks(i) = ranks(i - 1) + java.lang.Long.bitCount(words(i - 1))
      i += 1
    }
    new DenseLongs(base, greatest, words, ranks)
  }
}

private[keys] object BitWindow {
  def of(from: Long, to: Long): BitWindow =
    new BitWindow(from, new Array[Long](((to - from) >>> 6).toInt + 1))

  def suits(least: Long, greatest: Long, keys: Int): Boolean =
    LongTable.isDense(least, greatest, keys) && greatest - least <= MostBits

  /** 32 MB of them: so few numbers that a hash table can take them over. */
  private val MostBits = 1L << 28
}
