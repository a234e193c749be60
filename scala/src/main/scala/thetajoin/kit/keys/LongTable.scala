package thetajoin.kit.keys

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.contract.{
  JoinIndex,
  KeyBounds,
  LongMembership,
  LongProber,
  Prober,
  SingleRunProber
}

/**
 * Distinct keys of 64 bits. It is an index by itself where only the existence of a key is asked; where more is, keys
 * are numbered from 0 in ascending order.
 */
sealed abstract class LongTable extends JoinIndex with LongMembership with KeyBounds {

  /** The number of a key, if the table has numbers; -1 if the key is not here. */
  def find(key: Long): Int

  final override def newProber(): Prober = new LongTableProber(this)
}

/** Position 0 for every key that is here: any will do. */
private final class LongTableProber(table: LongTable) extends SingleRunProber with LongProber {
  override def probe(row: InternalRow): Unit = probe(row.getLong(0))
  override def probe(key: Long): Unit = run(0, if (table.contains(key)) 1 else 0)
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
    if (numbers.nonEmpty) Arrays.sort(keys)
    new LongKeys(keys, numbered = numbers.nonEmpty)
  }
}

/** A table on its way: its keys, in ascending order if they are numbered. */
private final class LongKeys(keys: Array[Long], numbered: Boolean) extends Serializable {
  private def readResolve(): AnyRef =
    if (numbered) LongTable.numbered(keys)
    else {
      val set = new LongSet(keys.length)
      keys.foreach(set.add(_): Unit)
      set.table()
    }
}

private[keys] object HashedLongs {

  /** Of keys in ascending order without duplicates. */
  def numbered(keys: Array[Long]): HashedLongs = {
    val capacity = LongHash.capacity(keys.length)
    val shift = LongHash.shift(capacity)
    val free = LongHash.absent(key => Arrays.binarySearch(keys, key) >= 0)
    val slots = Array.fill(capacity)(free)
    val numbers = new Array[Int](capacity)
    var i = 0
    while (i < keys.length) {
      val at = slot(slots, free, shift, keys(i))
      slots(at) = keys(i)
      numbers(at) = i
      i += 1
    }
    val (least, greatest) =
      if (keys.isEmpty) (Long.MaxValue, Long.MinValue) else (keys.head, keys.last)
    new HashedLongs(least, greatest, slots, numbers, free, shift)
  }

  /** Where a key is, or where it would be. */
  def slot(slots: Array[Long], free: Long, shift: Int, key: Long): Int = {
    val mask = slots.length - 1
    var at = LongHash.slot(key, shift)
    while (slots(at) != key && slots(at) != free) at = (at + 1) & mask
    at
  }
}

/** Multiplicative hashing into a table with open addressing whose capacity is a power of two. */
object LongHash {
  private final val Multiplier = 0x9e3779b97f4a7c15L
  private val MaxCapacity = 1 << 30

  /** For so many keys: at least half of the slots are free. */
  def capacity(keys: Int): Int =
    if (keys >= MaxCapacity / 2) MaxCapacity
    else math.max(16, Integer.highestOneBit(math.max(keys, 1) * 4 - 1))

  /** The shift of [[slot]] for a capacity. */
  def shift(capacity: Int): Int = java.lang.Long.SIZE - Integer.numberOfTrailingZeros(capacity)

  /** Where the search for a key starts. */
  def slot(key: Long, shift: Int): Int = ((key * Multiplier) >>> shift).toInt

  /** A number that is no key. */
  private[keys] def absent(isKey: Long => Boolean): Long = {
    var candidate = Multiplier
    while (isKey(candidate)) candidate += 1
    candidate
  }
}
