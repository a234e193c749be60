package thetajoin.accelerator.boxes

import java.util.Arrays

import scala.collection.mutable

/**
 * The numbers of rows, by position. It finds the rows all of whose numbers are large enough. Positions are cut into
 * blocks of 16, and the largest of each number is kept for each block. The same is done for blocks of 16 blocks, and
 * so on: an R-tree whose nodes are full and need no links. The entries of a block are compared all at once, with a
 * bit for each.
 *
 * For this, numbers are rounded down to 31 bits, which keeps their order. A row that passes so is compared by its
 * whole numbers.
 *
 * @param rounding of the numbers, in their order
 * @param pairs of numbers that are compared together: their places
 * @param numbers of one row after the other
 * @param levels rows rounded, then blocks, then blocks of blocks, and so on: block after block, and within it number
 *   after number
 */
private[thetajoin] final class BoundTree(
    rounding: Array[Rounding],
    pairs: Array[Int],
    numbers: Array[Long],
    levels: Array[Array[Int]]
) extends Serializable {
  import BoundTree._

  def width: Int = rounding.length
  def height: Int = levels.length

  def bytes: Long = 8L * numbers.length + 4L * levels.map(_.length.toLong).sum

  /** Rounds the numbers that are asked for; false if no row has a number as large. */
  def round(least: Array[Long], rounded: Array[Int]): Boolean = {
    var i = 0
    while (i < rounded.length && least(i) <= rounding(i).greatest) {
      rounded(i) = rounding(i).of(least(i))
      i += 1
    }
    i == rounded.length
  }

  /** The entries of a block that may be large enough, as bits. */
  def passing(level: Int, block: Int, rounded: Array[Int]): Int = {
    val entries = levels(level)
    val from = block * width * Size
    var passing = All
    var i = 0
    while (passing != 0 && i < pairs.length) {
      val (first, second) = (pairs(i), pairs(i + 1))
      passing &= both(
        entries,
        from + first * Size,
        rounded(first),
        from + second * Size,
        rounded(second)
      )
      i += 2
    }
    passing
  }

  private def both(entries: Array[Int], a: Int, leastA: Int, b: Int, leastB: Int): Int = {
    // The sign of a difference tells whether an entry is too small.
    var small = 0
    var i = Size - 1
    while (i >= 0) {
      small = (small << 1) | (((entries(a + i) - leastA) | (entries(b + i) - leastB)) >>> 31)
      i -= 1
    }
    ~small & All
  }

  /** A number of a row. */
  def number(row: Int, i: Int): Long = numbers(row * width + i)

  /** The most that a number of all rows below an entry can be; the entry has some. */
  def most(level: Int, entry: Int, i: Int): Long =
    rounding(i).most(levels(level)(place(entry, i, width)))

  /** Whether no number of a row is below `least`. */
  def passes(row: Int, least: Array[Long]): Boolean = {
    val from = row * least.length
    var i = 0
    while (i < least.length && numbers(from + i) >= least(i)) i += 1
    i == least.length
  }
}

private[boxes] object BoundTree {
  final val Bits = 4
  final val Size = 1 << Bits
  private final val All = (1 << Size) - 1

  /** No number that is asked for is as small. */
  private final val Nothing = -1

  /**
   * The rows of these columns, in this order. Each column is removed from the array once it has been read: the
   * structures that are made of all numbers next need its memory.
   */
  def apply(columns: Array[Array[Long]], order: Array[Int], extents: Seq[Extent]): BoundTree = {
    val rounding = columns.map(Rounding.of(_, order.length))
    val numbers = interleaved(columns, order)
    val levels = mutable.ArrayBuffer(rounded(numbers, order.length, rounding))
    while (levels.last.length > columns.length * Size) levels += blocks(levels.last, columns.length)
    new BoundTree(
      rounding,
      extents.flatMap(e => Seq(e.low, e.high)).toArray,
      numbers,
      levels.toArray
    )
  }

  private def interleaved(columns: Array[Array[Long]], order: Array[Int]): Array[Long] = {
    val width = columns.length
    val numbers = new Array[Long](Math.multiplyExact(order.length, width))
    for (i <- columns.indices) {
      val column = columns(i)
      columns(i) = null
      var p = 0
      while (p < order.length) {
        numbers(p * width + i) = column(order(p))
        p += 1
      }
    }
    numbers
  }

  private def rounded(numbers: Array[Long], rows: Int, rounding: Array[Rounding]): Array[Int] = {
    val width = rounding.length
    val entries = empty(rows, width)
    var p = 0
    while (p < rows) {
      var i = 0
      while (i < width) {
        entries(place(p, i, width)) = rounding(i).of(numbers(p * width + i))
        i += 1
      }
      p += 1
    }
    entries
  }

  /** The largest numbers of each block. */
  private def blocks(below: Array[Int], width: Int): Array[Int] = {
    val count = below.length / (width * Size)
    val largest = empty(count, width)
    var block = 0
    while (block < count) {
      var i = 0
      while (i < width) {
        val from = (block * width + i) * Size
        var most = Nothing
        var entry = 0
        while (entry < Size) {
          most = math.max(most, below(from + entry))
          entry += 1
        }
        largest(place(block, i, width)) = most
        i += 1
      }
      block += 1
    }
    largest
  }

  private def empty(entries: Int, width: Int): Array[Int] = {
    val blocks = math.max(1, (entries + Size - 1) >>> Bits)
    val none = new Array[Int](Math.multiplyExact(blocks, width * Size))
    Arrays.fill(none, Nothing)
    none
  }

  private def place(entry: Int, number: Int, width: Int): Int =
    ((entry >>> Bits) * width + number) * Size + (entry & (Size - 1))
}

/**
 * Numbers between two as 31 bits in the same order: their distance from the least, without so many of its last bits.
 */
private[thetajoin] final class Rounding(least: Long, val greatest: Long, shift: Int)
    extends Serializable {

  /** Of a number that is not above the greatest. */
  def of(number: Long): Int = if (number <= least) 0 else ((number - least) >>> shift).toInt

  /** The greatest of the numbers that are rounded to this one. */
  def most(rounded: Int): Long = {
    val last = least + (rounded.toLong << shift) + ((1L << shift) - 1)
    if (last < least || last > greatest) greatest else last
  }
}

private[boxes] object Rounding {
  private final val Bits = 31

  /** For the first numbers of a column. */
  def of(column: Array[Long], count: Int): Rounding = {
    var least = Long.MaxValue
    var greatest = Long.MinValue
    var i = 0
    while (i < count) {
      least = math.min(least, column(i))
      greatest = math.max(greatest, column(i))
      i += 1
    }
    val used = java.lang.Long.SIZE - java.lang.Long.numberOfLeadingZeros(greatest - least)
    new Rounding(least, greatest, if (count == 0) 0 else math.max(0, used - Bits))
  }
}
