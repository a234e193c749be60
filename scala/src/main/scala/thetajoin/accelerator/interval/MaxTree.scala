package thetajoin.accelerator.interval

import scala.collection.mutable

/**
 * Numbers by position, in which the next one that is large enough is found without a look at those in between.
 * Positions are cut into blocks of 16, and the largest number of each block is kept. The same is done for blocks of
 * 16 blocks, and so on.
 *
 * {{{
 *   numbers   3 1 2 .. | 9 4 4 .. | 1 0 2 .. | 7 7 1 .. |    next at least 7 from position 1 on: the rest of its block,
 *   blocks    3          9          2          7             then blocks up to the first of 9, then the block of 9
 *   of blocks 9 ...
 * }}}
 *
 * Positions are also cut into segments, and a search stays within its segment. Ahead of each block stands the largest
 * number from its start to the end of the segment, so a search that finds nothing more ends there.
 *
 * @param maxima the numbers, then the largest of each block, of each block of blocks, and so on
 */
private[thetajoin] final class MaxTree(maxima: Array[Array[Long]], ahead: Array[Long])
    extends Serializable {
  import MaxTree._

  val numbers: Array[Long] = maxima(0)

  def bytes: Long = 8L * (maxima.map(_.length.toLong).sum + ahead.length)

  /**
   * The first position in `[from, until)` with a number that is at least this one, `until` without one; `until` ends
   * a segment.
   */
  def next(from: Int, until: Int, least: Long): Int = {
    val blockEnd = math.min((from | Mask) + 1, until)
    var p = from
    while (p < blockEnd && numbers(p) < least) p += 1
    if (p < blockEnd || p == until) p
    else {
      val block = p >>> Bits
      if (ahead(block) < least) until else descend(block, least)
    }
  }

  /** The first position in `[from, until)` with a number below this one, `until` without one. */
  def endOfRun(from: Int, until: Int, least: Long): Int = {
    var p = from
    while (p < until && numbers(p) >= least) p += 1
    p
  }

  /** The first position in this block or a later one with a number that is at least this one: there is one. */
  private def descend(block: Int, least: Long): Int = {
    var level = 1
    var at = block
    while (maxima(level)(at) < least) {
      at += 1
      // At the start of a block the search goes one level up, where the block's largest number stands.
      while ((at & Mask) == 0 && level + 1 < maxima.length) {
        at >>>= Bits
        level += 1
      }
    }
    while (level > 0) {
      at <<= Bits
      level -= 1
      while (maxima(level)(at) < least) at += 1
    }
    at
  }
}

private[interval] object MaxTree {
  private final val Bits = 4
  private final val Mask = (1 << Bits) - 1

  /** Of segments `[starts(i), starts(i + 1))`, which cover all numbers. */
  def apply(numbers: Array[Long], starts: Array[Int]): MaxTree = {
    val maxima = mutable.ArrayBuffer(numbers)
    while (maxima.last.length > 1 || maxima.size == 1) maxima += blocks(maxima.last)
    new MaxTree(maxima.toArray, ahead(maxima(1), numbers, starts))
  }

  private def blocks(below: Array[Long]): Array[Long] = {
    val largest = Array.fill((below.length + Mask) >>> Bits)(Long.MinValue)
    var i = 0
    while (i < below.length) {
      if (below(i) > largest(i >>> Bits)) largest(i >>> Bits) = below(i)
      i += 1
    }
    largest
  }

  private def ahead(
      blocks: Array[Long],
      numbers: Array[Long],
      starts: Array[Int]
  ): Array[Long] = {
    val ahead = blocks.clone()
    var segment = starts.length - 2
    while (segment >= 0) {
      val (from, until) = (starts(segment), starts(segment + 1))
      // Blocks that start in this segment, from the last one, which may reach into the next segment.
      var block = (until - 1) >>> Bits
      while (until > from && block << Bits >= from) {
        val start = block << Bits
        val end = start + Mask + 1
        ahead(block) =
          if (end < until) math.max(blocks(block), ahead(block + 1))
          else largest(numbers, start, until)
        block -= 1
      }
      segment -= 1
    }
    ahead
  }

  private def largest(numbers: Array[Long], from: Int, until: Int): Long = {
    var largest = Long.MinValue
    var p = from
    while (p < until) {
      if (numbers(p) > largest) largest = numbers(p)
      p += 1
    }
    largest
  }
}
