package thetajoin.accelerator.interval

import java.util.Arrays

import thetajoin.contract.{LongsProber, PositionSets, Prober}
import thetajoin.kit.keys.{Grouping, Groups}
import thetajoin.kit.{LongOrder, Segments}

/**
 * Build rows as intervals of a line, from `~second` to `first`. The ends of all intervals are events in the order of
 * the line, cut into blocks of 8. The rows that begin ahead of a block and end behind it are a set.
 *
 * {{{
 *   events of a segment    [a [b a] [c | [d d] b] c]    the set of the second block is empty: b and c end in it
 *   the probe row             L-----------------H
 * }}}
 *
 * The rows that meet the interval from L to H are of two kinds. Rows that end at L or later and ahead of H are one run,
 * since positions are in the order of ends. Rows that are open at H are the set of its block, and rows with an event in
 * this block.
 *
 * That needs intervals that do not end ahead of their start. Other probe rows, and segments with such rows, have their
 * candidates from [[BothAtLeastProber]].
 */
private[interval] final class IntervalSets(
    isFirstStrict: Boolean,
    isSecondStrict: Boolean,
    groups: Groups,
    segments: Segments,
    tree: MaxTree
) extends PositionSets {
  import IntervalSets._

  private lazy val events = Events(segments, tree.numbers)

  private lazy val rowsOfSets: Array[Int] = {
    val rows = new Array[Int](count + 1)
    var p = 0
    while (p < segments.numbers.length) {
      if (first(p) < end(p)) {
        rows(first(p)) += 1
        rows(end(p)) -= 1
      }
      p += 1
    }
    Arrays.parallelPrefix(rows, Integer.sum(_, _))
    rows
  }

  override def count: Int = (2 * segments.numbers.length >> Bits) + 1
  override def first(position: Int): Int = (events.ofStart(position) >> Bits) + 1
  override def end(position: Int): Int = events.ofEnd(position) >> Bits
  override def rows(set: Int): Int = rowsOfSets(set)

  override def newProber(): Prober = groups match {
    case _: Groups.OfBytes => new SetsProber
    case _ => new SetsProber with LongsProber
  }

  private class SetsProber
      extends BothAtLeastProber(isFirstStrict, isSecondStrict, groups, segments, tree) {
    private val events = IntervalSets.this.events
    private val rowsOfSets = IntervalSets.this.rowsOfSets
    private val positions = segments.numbers.length
    private val firstStep = if (isFirstStrict) 1 else 0
    private val secondStep = if (isSecondStrict) 1 else 0

    /** The runs of the probe row, unless its candidates are found without sets. */
    private val starts, ends = new Array[Int](2 + Block)
    private var runs = 0
    private var passed = 0
    private var isListed = false

    override protected def none(): Unit = {
      isListed = false
      runs = passed
    }

    override def probe(segment: Int, first: Long, second: Long): Unit = {
      val mayMeet = first <= Long.MaxValue - firstStep && second <= Long.MaxValue - secondStep
      val (from, to) = (first + firstStep, ~(second + secondStep))
      isListed = mayMeet && (from > to || events.isRough(segment))
      runs = 0
      passed = 0
      if (isListed) super.probe(segment, first, second)
      else if (mayMeet) {
        val ended = segments.firstAtLeast(segment, to)
        add(segments.firstAtLeast(segment, from), ended)
        addOpen(segment, ended + events.starts.firstAbove(segment, to))
      }
    }

    /** Rows that are open ahead of this event of the segment. */
    private def addOpen(segment: Int, event: Int): Unit = {
      val set = event >> Bits
      val block = set << Bits
      if (rowsOfSets(set) > 0) add(positions + set, positions + set + 1)
      var e = math.max(block, 2 * segments.starts(segment))
      val until = math.min(block + Block, 2 * segments.end(segment))
      while (e < until) {
        val row = events.rows(e)
        if (row >= 0) { if (e < event && events.ofEnd(row) >= event) add(row, row + 1) }
        else if (e >= event && events.ofStart(~row) < block) add(~row, ~row + 1)
        e += 1
      }
    }

    private def add(from: Int, until: Int): Unit =
      if (from < until) {
        starts(runs) = from
        ends(runs) = until
        runs += 1
      }

    override def next(): Boolean =
      if (isListed) super.next()
      else if (passed < runs) {
        runFrom = starts(passed)
        runUntil = ends(passed)
        passed += 1
        true
      } else false
  }
}

private[interval] object IntervalSets {

  /** Events of a block: a probe row looks at as many one by one. */
  private final val Bits = 3
  private final val Block = 1 << Bits

  /** Events have numbers of 32 bits. */
  private[interval] final val MostRows = Int.MaxValue / 2

  /**
   * Starts and ends of intervals in their order, segment after segment. At the same place of the line starts come
   * ahead of ends.
   *
   * @param starts where the intervals of each segment start
   * @param rows the position for each start, and its complement for each end
   * @param ofStart the event for the start of each position
   * @param ofEnd the same of its end
   * @param isRough whether a segment has a row that ends ahead of its start
   */
  private final class Events(
      val starts: Segments,
      val rows: Array[Int],
      val ofStart: Array[Int],
      val ofEnd: Array[Int],
      val isRough: Array[Boolean]
  )

  private object Events {

    /** @param negated the starts by position, as complements. Positions are in the order of ends */
    def apply(ends: Segments, negated: Array[Long]): Events = {
      val size = negated.length
      val start = negated.map(~_)
      val sorted = Grouping(ends.starts, Array.range(0, size))
        .sortedBy(LongOrder.ascending(start, size)).order
      val rows = new Array[Int](2 * size)
      val ofStart, ofEnd = new Array[Int](size)
      val isRough = new Array[Boolean](ends.count)
      var segment = 0
      while (segment < ends.count) {
        val until = ends.end(segment)
        var (next, end) = (ends.starts(segment), ends.starts(segment))
        var event = 2 * next
        while (end < until) {
          if (next < until && start(sorted(next)) <= ends.numbers(end)) {
            rows(event) = sorted(next)
            ofStart(sorted(next)) = event
            next += 1
          } else {
            isRough(segment) |= start(end) > ends.numbers(end)
            rows(event) = ~end
            ofEnd(end) = event
            end += 1
          }
          event += 1
        }
        while (next < until) {
          rows(event) = sorted(next)
          ofStart(sorted(next)) = event
          next += 1
          event += 1
        }
        segment += 1
      }
      new Events(Segments(ends.starts, LongOrder.at(start, sorted)), rows, ofStart, ofEnd, isRough)
    }
  }
}
