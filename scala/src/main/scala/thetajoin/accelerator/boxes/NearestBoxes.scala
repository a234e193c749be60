package thetajoin.accelerator.boxes

import thetajoin.condition.OrderedLong
import thetajoin.contract.NarrowingProber

/**
 * How a rank tells a distance in the plane, or in space.
 *
 * @param isFloating whether a rank is a floating-point number, or else a whole one
 * @param isSquared whether a rank is the square of the distance
 * @param unit the distance is the rank times this at most
 * @param rounding by how much the rank is rounded at most, in parts of the coordinates
 */
final case class RankedDistance(
    dimensions: Int,
    isFloating: Boolean,
    isSquared: Boolean,
    unit: Double,
    rounding: Double
) {

  /** The distance of a rank, as [[OrderedLong]] numbers it. The rank of boxes that overlap may be below zero. */
  def of(rank: Long): Double = {
    val value = (if (isFloating) OrderedLong.toDouble(rank) else rank.toDouble) * unit
    if (isSquared) math.sqrt(value) else math.max(value, 0.0)
  }
}

/**
 * Looks at the nearest blocks first: a heap has the blocks that are still to be looked at, by their distance from the
 * probe row's box. Once the join has enough matches, blocks and rows that are farther away than the last of them are
 * left out.
 */
private class NearestBoxesProber(index: BoxRows, distance: RankedDistance)
    extends TreeProber(index)
    with NarrowingProber {
  import BoundTree.Bits
  import NearestBoxesProber._

  private val first = index.isStrict.length
  private val dimensions = distance.dimensions

  /** By dimension: the ends of the probe row's box, the lower one first. */
  private val ends = new Array[Double](2 * dimensions)

  /** Blocks with their levels in the low bits, the nearest at the start, and their distances. */
  private var heap = new Array[Long](64)
  private var distances = new Array[Double](64)
  private var open = 0

  private var farthest = Double.PositiveInfinity

  /** By which a distance is rounded at most. */
  private var slack = 0.0

  override protected def none(): Unit = open = 0

  override protected def walk(
      level: Int,
      first: Int,
      last: Int,
      numbers: Array[Long],
      at: Int
  ): Unit = {
    var largest = index.reach
    var i = 0
    while (i < ends.length) {
      ends(i) = OrderedLong.toDouble(numbers(at + i))
      largest = math.max(largest, math.abs(ends(i)))
      i += 1
    }
    slack = largest * distance.rounding + Tiny
    farthest = Double.PositiveInfinity
    open = 0
    var block = first
    while (block <= last) {
      push(0.0, level, block)
      block += 1
    }
  }

  override def narrow(rank: Long): Unit = {
    val limit = distance.of(rank) + slack
    // A rank that is NaN is no limit.
    if (limit < farthest) farthest = limit
  }

  final override def next(): Boolean = {
    var count = 0
    while (count == 0 && open > 0 && !(distances(0) > farthest)) {
      val level = (heap(0) & LevelMask).toInt
      val block = (heap(0) >>> LevelBits).toInt
      pop()
      var entries = passing(level, block)
      while (entries != 0) {
        val entry = (block << Bits) + Integer.numberOfTrailingZeros(entries)
        val away = this.away(level, entry)
        // A block without a distance may be near.
        if (!(away > farthest)) {
          if (level > 0) push(if (away.isNaN) 0.0 else away, level - 1, entry)
          else if (isCandidate(entry)) {
            found(count) = entry
            count += 1
          }
        }
        entries &= entries - 1
      }
    }
    give(count)
  }

  /** How far a row is, or the box around all rows below an entry. */
  private def away(level: Int, entry: Int): Double = {
    var (sum, greatest) = (0.0, 0.0)
    var d = 0
    while (d < dimensions) {
      val gap = this.gap(d, end(level, entry, first + 2 * d), end(level, entry, first + 2 * d + 1))
      sum += gap * gap
      greatest = math.max(greatest, gap)
      d += 1
    }
    length(sum, greatest)
  }

  private def end(level: Int, entry: Int, i: Int): Long =
    if (level == 0) tree.number(entry, i) else tree.most(level, entry, i)

  /** Squares of large gaps are infinite. */
  private def length(sum: Double, greatest: Double): Double =
    if (sum == Double.PositiveInfinity) greatest else math.sqrt(sum)

  /**
   * The gap between the probe row and a box in a dimension, at the least if one ends before it starts. The number of
   * the lower end is negated.
   */
  private def gap(d: Int, low: Long, high: Long): Double = {
    val above = OrderedLong.toDouble(~low) - ends(2 * d + 1)
    val below = ends(2 * d) - OrderedLong.toDouble(high)
    if (above > 0 && below > 0) math.min(above, below)
    else if (above > 0) above
    else if (below > 0) below
    else 0.0
  }

  private def push(away: Double, level: Int, block: Int): Unit = {
    if (open == heap.length) {
      heap = java.util.Arrays.copyOf(heap, 2 * open)
      distances = java.util.Arrays.copyOf(distances, 2 * open)
    }
    var i = open
    open += 1
    while (i > 0 && distances((i - 1) / 2) > away) {
      heap(i) = heap((i - 1) / 2)
      distances(i) = distances((i - 1) / 2)
      i = (i - 1) / 2
    }
    heap(i) = block.toLong << LevelBits | level
    distances(i) = away
  }

  /** Takes the nearest away. */
  private def pop(): Unit = {
    open -= 1
    val (last, away) = (heap(open), distances(open))
    var i = 0
    var child = nearerChild(0)
    while (child < open && distances(child) < away) {
      heap(i) = heap(child)
      distances(i) = distances(child)
      i = child
      child = nearerChild(i)
    }
    heap(i) = last
    distances(i) = away
  }

  private def nearerChild(i: Int): Int = {
    val child = 2 * i + 1
    if (child + 1 < open && distances(child + 1) < distances(child)) child + 1 else child
  }
}

private object NearestBoxesProber {
  private final val LevelBits = 4
  private final val LevelMask = (1L << LevelBits) - 1

  /** Squares of numbers as small as this have few digits, or none. */
  private final val Tiny = 1e-150
}
