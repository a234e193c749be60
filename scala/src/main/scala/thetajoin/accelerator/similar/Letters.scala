package thetajoin.accelerator.similar

import java.util.Arrays

import org.apache.spark.unsafe.types.UTF8String

import thetajoin.kit.LongOrder

/**
 * The characters of a text, cut where Spark's `levenshtein` cuts it. A character is the number that its bytes make, so
 * that characters are equal if their bytes are. Used for one text after another.
 */
private final class Letters {
  private var values = new Array[Int](64)
  private var size = 0

  def length: Int = size
  def array: Array[Int] = values

  def read(text: UTF8String): Unit = {
    val bytes = text.numBytes
    if (values.length < bytes)
      values = new Array[Int](math.max(bytes, LongOrder.grown(values.length)))
    size = 0
    var i = 0
    while (i < bytes) {
      val first = text.getByte(i)
      val until = math.min(i + UTF8String.numBytesForFirstByte(first), bytes)
      var letter = 0
      while (i < until) {
        letter = (letter << 8) | (text.getByte(i) & 0xff)
        i += 1
      }
      values(size) = letter
      size += 1
    }
  }
}

private object Letters {

  /**
   * Which characters there are, one bit for a class of characters, and which there are twice, another bit. A text that
   * is k edits away lacks k of these bits at most, and has k others at most.
   */
  def signature(letters: Array[Int], from: Int, until: Int): Long = {
    var once, twice = 0
    var i = from
    while (i < until) {
      val letter = letters(i)
      val bit = 1 << (if (letter < 128) letter & 31 else (letter * 0x9e3779b9) >>> 27)
      twice |= once & bit
      once |= bit
      i += 1
    }
    (twice.toLong << 32) | (once & 0xffffffffL)
  }

  /**
   * Which pairs of neighbours there are, the first and the last character with none, one bit for a class of pairs. An
   * edit takes two pairs away at most, and brings two at most.
   */
  def pairs(letters: Array[Int], from: Int, until: Int): Long = {
    var bits = 0L
    var last = 0
    var i = from
    while (i <= until) {
      val letter = if (i < until) letters(i) else 0
      bits |= 1L << ((last * 0x9e3779b9 + letter) * 0x85ebca6b >>> 26)
      last = letter
      i += 1
    }
    bits
  }

  /** How many edits apart two texts with these signatures are at least. */
  def fewestEdits(one: Long, other: Long): Int =
    math.max(java.lang.Long.bitCount(one & ~other), java.lang.Long.bitCount(other & ~one))

  /** The same of texts with these pairs. */
  def fewestEditsOfPairs(one: Long, other: Long): Int = (fewestEdits(one, other) + 1) / 2
}

/** Levenshtein distances up to a limit. Only the cells near the diagonal of the usual table are computed. */
private final class EditDistance {
  private var cells = new Array[Int](16)

  /** Whether texts, at these places of arrays, are so many edits apart at most. */
  def isWithin(
      a: Array[Int],
      aFrom: Int,
      aUntil: Int,
      b: Array[Int],
      bFrom: Int,
      bUntil: Int,
      edits: Int
  ): Boolean = {
    var (fromA, fromB) = (aFrom, bFrom)
    while (fromA < aUntil && fromB < bUntil && a(fromA) == b(fromB)) {
      fromA += 1
      fromB += 1
    }
    var (untilA, untilB) = (aUntil, bUntil)
    while (untilA > fromA && untilB > fromB && a(untilA - 1) == b(untilB - 1)) {
      untilA -= 1
      untilB -= 1
    }
    val (lengthA, lengthB) = (untilA - fromA, untilB - fromB)
    if (lengthA == 0 || lengthB == 0) lengthA + lengthB <= edits
    else if (math.abs(lengthA - lengthB) > edits) false
    else if (math.max(lengthA, lengthB) <= edits) true
    else banded(a, fromA, lengthA, b, fromB, lengthB, edits)
  }

  /** Cell d of row i is the distance of the first i characters of `a` and the first i + d - edits of `b`. */
  private def banded(
      a: Array[Int],
      fromA: Int,
      lengthA: Int,
      b: Array[Int],
      fromB: Int,
      lengthB: Int,
      edits: Int
  ): Boolean = {
    val width = 2 * edits + 1
    val far = edits + 1
    if (cells.length <= width) cells = new Array[Int](width + 1)
    val row = cells
    Arrays.fill(row, 0, edits, far)
    var d = edits
    while (d < width) {
      row(d) = d - edits
      d += 1
    }
    row(width) = far
    var least = 0
    var i = 1
    while (i <= lengthA && least <= edits) {
      least = far
      val letter = a(fromA + i - 1)
      d = 0
      var j = i - edits
      while (d < width) {
        val cell =
          if (j < 0 || j > lengthB) far
          else if (j == 0) i
          else {
            val replaced = row(d) + (if (letter == b(fromB + j - 1)) 0 else 1)
            val removed = row(d + 1) + 1
            val added = if (d == 0) far else row(d - 1) + 1
            math.min(replaced, math.min(removed, added))
          }
        row(d) = cell
        if (cell < least) least = cell
        d += 1
        j += 1
      }
      i += 1
    }
    least <= edits && row(lengthB - lengthA + edits) <= edits
  }
}
