package thetajoin.kit.keys

import java.nio.ByteOrder

import org.apache.spark.unsafe.Platform

/**
 * Keys of up to 15 bytes, each in the two words of its slot: its bytes, and above them its size plus 1. A slot whose
 * second word is 0 is free.
 *
 * {{{
 *   words   'key-0012' '3' 10 | 0 0 | 'key' 4 | ...
 * }}}
 *
 * A look-up touches one slot, and compares words.
 *
 * @param numbers of the keys, by slot
 */
private[thetajoin] final class ShortTable(
    words: Array[Long],
    numbers: Array[Int],
    keys: Int,
    filter: KeyFilter
) extends KeyTable {
  override def bytes: Long = 8L * words.length + 4L * numbers.length + filter.bytes

  override def find(base: AnyRef, offset: Long, size: Int): Int = {
    val at = slot(base, offset, size)
    if (at < 0) -1 else numbers(at)
  }

  override def contains(base: AnyRef, offset: Long, size: Int): Boolean =
    slot(base, offset, size) >= 0

  private def writeReplace(): AnyRef = new ShortKeys(ShortTable.ordered(words, numbers, keys))

  private def slot(base: AnyRef, offset: Long, size: Int): Int =
    if (size > ShortTable.MaxSize) -1
    else {
      val first = ShortTable.first(base, offset, size)
      val second = ShortTable.second(base, offset, size)
      val hash = ShortTable.hash(first, second)
      if (!filter.mayContain(hash)) -1
      else {
        val at = ShortTable.search(words, hash, first, second)
        if (ShortTable.isFree(words, at)) -1 else at
      }
    }
}

/** A table on its way: the words of its keys, by number. */
private final class ShortKeys(words: Array[Long]) extends Serializable {
  private def readResolve(): AnyRef = {
    val table = new ShortTableBuilder
    var i = 0
    while (i < words.length) {
      table.numberOf(words(i), words(i + 1)): Unit
      i += 2
    }
    table.result()
  }
}

/** Takes keys that are [[ShortTable.isShort short]]. */
private[keys] final class ShortTableBuilder {
  private var words = new Array[Long](2 << 9)
  private var numbers = new Array[Int](1 << 9)
  private var count = 0

  def size: Int = count
  def bytes: Long = 16L * count

  def numberOf(base: AnyRef, offset: Long, size: Int): Int =
    numberOf(ShortTable.first(base, offset, size), ShortTable.second(base, offset, size))

  def numberOf(first: Long, second: Long): Int = {
    val at = ShortTable.search(words, ShortTable.hash(first, second), first, second)
    if (!ShortTable.isFree(words, at)) numbers(at)
    else {
      put(at, first, second, count)
      count += 1
      if (count > numbers.length / 16 * ShortTable.MostOfSixteen) grow()
      count - 1
    }
  }

  private def put(at: Int, first: Long, second: Long, number: Int): Unit = {
    words(2 * at) = first
    words(2 * at + 1) = second
    numbers(at) = number
  }

  private def grow(): Unit = {
    val (oldWords, oldNumbers) = (words, numbers)
    words = new Array[Long](Math.multiplyExact(oldWords.length, 2))
    numbers = new Array[Int](oldNumbers.length * 2)
    var i = 0
    while (i < oldNumbers.length) {
      if (!ShortTable.isFree(oldWords, i)) {
        val (first, second) = (oldWords(2 * i), oldWords(2 * i + 1))
        val at = ShortTable.search(words, ShortTable.hash(first, second), first, second)
        put(at, first, second, oldNumbers(i))
      }
      i += 1
    }
  }

  /** The same keys with the same numbers, where a key of any length may follow. */
  def lengthened(): ByteTableBuilder = {
    val longer = new ByteTableBuilder
    val keys = ShortTable.ordered(words, numbers, count)
    var i = 0
    while (i < 2 * count) {
      val size = ShortTable.size(keys(i + 1))
      longer.numberOf(keys, Platform.LONG_ARRAY_OFFSET + 8L * i, size): Unit
      i += 2
    }
    longer
  }

  def result(): ShortTable = {
    val filter = KeyFilter.of(count)
    var i = 0
    while (i < numbers.length) {
      if (!ShortTable.isFree(words, i)) filter.add(ShortTable.hash(words(2 * i), words(2 * i + 1)))
      i += 1
    }
    new ShortTable(words, numbers, count, filter)
  }
}

private[keys] object ShortTable {
  val MaxSize: Int = 15

  /**
   * How many of 16 slots are in use at most. A table that is so full is half as large, and more of it stays in the
   * cache.
   */
  val MostOfSixteen: Int = 13

  /** Whether a key can be in a table: the words of one are made as they lie in memory with the low byte first. */
  def isShort(size: Int): Boolean = size <= MaxSize && isLittleEndian

  private val isLittleEndian = ByteOrder.nativeOrder == ByteOrder.LITTLE_ENDIAN

  def size(second: Long): Int = (second >>> SizeShift).toInt - 1

  /** The first bytes of a key, eight at most. */
  def first(base: AnyRef, offset: Long, size: Int): Long =
    if (size >= 8) Platform.getLong(base, offset)
    else if (size >= 4) {
      val last = Platform.getInt(base, offset + size - 4) & 0xffffffffL
      (Platform.getInt(base, offset) & 0xffffffffL) | (last << ((size - 4) * 8))
    } else bytes(base, offset, size)

  /** The other bytes, and the size above. */
  def second(base: AnyRef, offset: Long, size: Int): Long = {
    val rest =
      if (size <= 8) 0L else Platform.getLong(base, offset + size - 8) >>> ((16 - size) * 8)
    rest | ((size + 1L) << SizeShift)
  }

  private def bytes(base: AnyRef, offset: Long, size: Int): Long = {
    var word = 0L
    var i = 0
    while (i < size) {
      word |= (Platform.getByte(base, offset + i) & 0xffL) << (i * 8)
      i += 1
    }
    word
  }

  def hash(first: Long, second: Long): Long = {
    val mixed = first * Multiplier
    (mixed ^ (mixed >>> 32)) + second
  }

  /** Where a key's slot is, or the free slot in which the search for it ends. */
  def search(words: Array[Long], hash: Long, first: Long, second: Long): Int = {
    val mask = words.length / 2 - 1
    var at = LongHash.slot(hash, LongHash.shift(words.length / 2))
    while (!isFree(words, at) && (words(2 * at + 1) != second || words(2 * at) != first))
      at = (at + 1) & mask
    at
  }

  /** The words of the keys by number, where `numbers` has the numbers by slot. */
  def ordered(words: Array[Long], numbers: Array[Int], keys: Int): Array[Long] = {
    val ordered = new Array[Long](2 * keys)
    var i = 0
    while (i < numbers.length) {
      if (!isFree(words, i)) System.arraycopy(words, 2 * i, ordered, 2 * numbers(i), 2)
      i += 1
    }
    ordered
  }

  def isFree(words: Array[Long], at: Int): Boolean = words(2 * at + 1) == 0L

  private final val SizeShift = 56
  private final val Multiplier = 0xff51afd7ed558ccdL
}
