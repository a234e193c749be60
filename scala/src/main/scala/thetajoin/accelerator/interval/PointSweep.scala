package thetajoin.accelerator.interval

import java.util.Arrays

import thetajoin.contract.ListProber
import thetajoin.kit.keys.Groups
import thetajoin.kit.{LongOrder, SegmentProber, Segments}

/**
 * The rows of two lower bounds for one point after another. The rows around a point are a list. For the next point,
 * rows that end before it are dropped, and rows that start in between are added.
 *
 * {{{
 *   rows by their first value (a negated start)     . . a b c | d e f
 *   passed by the first bound of the last point                 d e f    the list has the ones that pass the second
 *   and of this one                                     b c   | d e f    b and c are looked at
 * }}}
 *
 * If many rows lie in between, or the points come in another order, the list is made anew by the tree.
 */
private final class PointSweep(
    isFirstStrict: Boolean,
    isSecondStrict: Boolean,
    groups: Groups,
    segments: Segments,
    tree: MaxTree
) extends SegmentProber(groups)
    with ListProber {
  import PointSweep.MaxSteps

  private val firstValues = segments.numbers
  private val secondValues = tree.numbers
  private val firstStep = if (isFirstStrict) 1 else 0
  private val secondStep = if (isSecondStrict) 1 else 0

  /** Positions; the first `size` are in use. */
  private var open = new Array[Int](2 * MaxSteps)
  private var size = 0

  /** The last point: its segment, its bounds, and from where on rows pass the first. */
  private var segment = -1
  private var first = 0L
  private var second = 0L
  private var passed = 0
  private var isPending = false

  override def positions: Array[Int] = open

  override protected def none(): Unit = isPending = false

  override def probe(segment: Int, first: Long, second: Long): Unit =
    if (first > Long.MaxValue - firstStep || second > Long.MaxValue - secondStep) none()
    else {
      moveTo(segment, first + firstStep, second + secondStep)
      isPending = size > 0
      runFrom = 0
      runUntil = size
    }

  override def next(): Boolean = {
    val found = isPending
    isPending = false
    found
  }

  private def moveTo(segment: Int, first: Long, second: Long): Unit = {
    val isNext = segment == this.segment && first <= this.first && second >= this.second
    if (!isNext) {
      size = 0
      passed = segments.end(segment)
    }
    this.segment = segment
    this.first = first
    this.second = second
    val far = passed - MaxSteps
    if (far >= segments.starts(segment) && firstValues(far) >= first) restart()
    else {
      drop()
      add()
    }
  }

  private def drop(): Unit = {
    val list = open
    val count = size
    val least = second
    var kept = 0
    var i = 0
    while (i < count) {
      val p = list(i)
      list(kept) = p
      if (secondValues(p) >= least) kept += 1
      i += 1
    }
    size = kept
  }

  private def add(): Unit = {
    if (open.length - size < MaxSteps) grow()
    val list = open
    val lowest = segments.starts(segment)
    val leastFirst = first
    val leastSecond = second
    var count = size
    var p = passed - 1
    while (p >= lowest && firstValues(p) >= leastFirst) {
      list(count) = p
      if (secondValues(p) >= leastSecond) count += 1
      p -= 1
    }
    passed = p + 1
    size = count
  }

  private def restart(): Unit = {
    val end = segments.end(segment)
    passed = segments.firstAtLeast(segment, first)
    size = 0
    var p = tree.next(passed, end, second)
    while (p < end) {
      val runEnd = tree.endOfRun(p + 1, end, second)
      while (p < runEnd) {
        if (size == open.length) grow()
        open(size) = p
        size += 1
        p += 1
      }
      p = tree.next(p, end, second)
    }
  }

  private def grow(): Unit = open = Arrays.copyOf(open, LongOrder.grown(open.length))
}

private object PointSweep {

  /** So many rows are looked at in less time than it takes to find one by the tree. */
  private final val MaxSteps = 64
}
