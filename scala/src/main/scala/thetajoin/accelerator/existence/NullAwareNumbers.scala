package thetajoin.accelerator.existence

import java.util.concurrent.ConcurrentHashMap

import thetajoin.kit.keys.{KeyBytes, KeyFilter, LongHash}

/**
 * Keys of [[NullAwareSpec]] that are numbers, where the join asks only whether there is a match. A look-up leaves a column out by
 * a factor of its words, not by a branch.
 *
 * @param words of the distinct keys, one after another; the last of each is its mask
 */
final class NullAwareNumbers(spec: NullAwareSpec, words: Array[Long]) extends NumbersIndex {
  import NullAwareNumbers._

  private val width = spec.columns + 1
  @transient private lazy val keysByMask =
    Iterator.range(0, words.length, width).toArray.groupBy(key => words(key + spec.columns))
  @transient private lazy val tests = new ConcurrentHashMap[Long, MaskTest]
  @transient private lazy val recent = new Array[MaskTest](Recent)

  override def bytes: Long = 8L * words.length

  /** Position 0 for every key that is here: any will do. */
  override def find(numbers: Array[Long]): Int = {
    val mask = numbers(spec.columns)
    val place = mask.toInt & (Recent - 1)
    var test = recent(place)
    if (test == null || test.probeMask != mask) {
      test = tests.computeIfAbsent(mask, newTest(_))
      recent(place) = test
    }
    if (test.contains(numbers)) 0 else -1
  }

  private def newTest(probeMask: Long): MaskTest =
    new MaskTest(
      probeMask,
      keysByMask.iterator.map { case (mask, keys) => table(keys, mask | probeMask) }.toArray
    )

  private def table(keys: Array[Int], ignored: Long): NumbersTable = {
    val kept = Array.tabulate(spec.columns)(i => if (spec.compares(i, ignored)) -1L else 0L)
    NumbersTable(words, keys, kept)
  }
}

private object NullAwareNumbers {

  /** Tests that are at hand without a look into the map, by the lowest bits of their masks. */
  final val Recent = 64
}

/** For probe rows of one mask: a table for each mask of the build rows. */
private final class MaskTest(val probeMask: Long, tables: Array[NumbersTable]) {
  def contains(numbers: Array[Long]): Boolean = {
    var i = 0
    while (i < tables.length && !tables(i).contains(numbers)) i += 1
    i < tables.length
  }
}

/**
 * Keys of several numbers each, where each number counts in the bits that `kept` has for it. A slot that is not 0 has the hash of
 * a key above, and below where its words start, plus 1.
 */
private final class NumbersTable(
    words: Array[Long],
    kept: Array[Long],
    slots: Array[Long],
    filter: KeyFilter
) {
  private val shift = LongHash.shift(slots.length)

  def contains(numbers: Array[Long]): Boolean = {
    val hash = this.hash(numbers, 0)
    filter.mayContain(hash.toLong) && slots(slot(hash, numbers, 0)) != 0L
  }

  def add(key: Int): Unit = {
    val hash = this.hash(words, key)
    filter.add(hash.toLong)
    slots(slot(hash, words, key)) = (hash.toLong << 32) | (key + 1)
  }

  /** Where the search for the key at `numbers(from)` ends. */
  private def slot(hash: Int, numbers: Array[Long], from: Int): Int = {
    var at = LongHash.slot(hash.toLong, shift)
    while (slots(at) != 0L && !isOf(slots(at), hash, numbers, from))
      at = (at + 1) & (slots.length - 1)
    at
  }

  private def hash(numbers: Array[Long], from: Int): Int = {
    var hash = 0L
    var i = 0
    while (i < kept.length) {
      hash = KeyBytes.mix(hash, numbers(from + i) & kept(i))
      i += 1
    }
    KeyBytes.folded(hash)
  }

  private def isOf(entry: Long, hash: Int, numbers: Array[Long], from: Int): Boolean =
    (entry >>> 32).toInt == hash && {
      val key = entry.toInt - 1
      var i = 0
      while (i < kept.length && ((words(key + i) ^ numbers(from + i)) & kept(i)) == 0L) i += 1
      i == kept.length
    }
}

private object NumbersTable {
  def apply(words: Array[Long], keys: Array[Int], kept: Array[Long]): NumbersTable = {
    val slots = new Array[Long](LongHash.capacity(keys.length))
    val table = new NumbersTable(words, kept, slots, KeyFilter.of(keys.length))
    keys.foreach(table.add)
    table
  }
}
