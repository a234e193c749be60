package thetajoin.accelerator.boxes

import scala.collection.mutable

/**
 * Rows of `width` numbers by position, in which the next row is found all of whose numbers are large enough. Positions are cut into blocks
 * of 16, of each of which the largest of each number is kept; so are blocks of 16 blocks, and so on: an R-tree whose nodes are full and
 * need no links.
 *
 * @param maxima the numbers of one row after the other, then those of each block, of each block of blocks, and so on
 */
private[thetajoin] final class BoundTree(width: Int, maxima: Array[Array[Long]])
    extends Serializable {
  import BoundTree._

  def bytes: Long = 8L * maxima.map(_.length.toLong).sum

  /** The first position in `[from, until)` of a row with no number below `least`; `until` without one. */
  def next(from: Int, until: Int, least: Array[Long]): Int = {
    // The rest of a block that is begun, then blocks as large as the positions up to `until` have.
    val rest =
      if ((from & Mask) == 0) from else passing(from, math.min((from | Mask) + 1, until), least)
    if ((rest & Mask) != 0 || rest == until) rest else descend(rest, until, least)
  }

  /** The first position in `[from, until)` of a row with a number below `least`; `until` without one. */
  def endOfRun(from: Int, until: Int, least: Array[Long]): Int = {
    val rows = maxima(0)
    var p = from
    while (p < until && passes(rows, p, least)) p += 1
    p
  }

  private def passing(from: Int, until: Int, least: Array[Long]): Int = {
    val rows = maxima(0)
    var p = from
    while (p < until && !passes(rows, p, least)) p += 1
    p
  }

  /** From the start of a block on. */
  private def descend(from: Int, until: Int, least: Array[Long]): Int = {
    var level = 0
    var at = from
    var found = -1
    while (found < 0) {
      // What stands first of a larger block is passed over with it, if all of that is to be searched.
      while (
        (at & Mask) == 0 && level + 1 < maxima.length &&
        ((at.toLong + Mask + 1) << (level * Bits)) <= until
      ) {
        at >>>= Bits
        level += 1
      }
      while (level > 0 && passes(maxima(level), at, least)) {
        at <<= Bits
        level -= 1
      }
      if (level > 0) {
        at += 1
        if ((at.toLong << (level * Bits)) >= until) found = until
      } else {
        val end = math.min(at + Mask + 1, until)
        val p = passing(at, end, least)
        if (p < end || p == until) found = p else at = end
      }
    }
    found
  }

  private def passes(numbers: Array[Long], at: Int, least: Array[Long]): Boolean = {
    val base = at * width
    if (
      numbers(base) >= least(0) && numbers(base + 1) >= least(1) && numbers(base + 2) >= least(2)
    ) {
      var i = 3
      while (i < width && numbers(base + i) >= least(i)) i += 1
      i == width
    } else false
  }
}

private[boxes] object BoundTree {
  final val Bits = 4
  final val Mask = (1 << Bits) - 1

  /** Of these columns, which are three or more, the rows in this order. */
  def apply(columns: Array[Array[Long]], order: Array[Int]): BoundTree = {
    val maxima = mutable.ArrayBuffer(interleaved(columns, order))
    while (maxima.last.length > columns.length) maxima += blocks(maxima.last, columns.length)
    new BoundTree(columns.length, maxima.toArray)
  }

  private def interleaved(columns: Array[Array[Long]], order: Array[Int]): Array[Long] = {
    val width = columns.length
    val numbers = new Array[Long](Math.multiplyExact(order.length, width))
    for ((column, i) <- columns.zipWithIndex) {
      var p = 0
      while (p < order.length) {
        numbers(p * width + i) = column(order(p))
        p += 1
      }
    }
    numbers
  }

  private def blocks(below: Array[Long], width: Int): Array[Long] = {
    val rows = below.length / width
    val largest = Array.fill(((rows + Mask) >>> Bits) * width)(Long.MinValue)
    var p = 0
    while (p < rows) {
      val block = (p >>> Bits) * width
      var i = 0
      while (i < width) {
        val number = below(p * width + i)
        if (number > largest(block + i)) largest(block + i) = number
        i += 1
      }
      p += 1
    }
    largest
  }
}
