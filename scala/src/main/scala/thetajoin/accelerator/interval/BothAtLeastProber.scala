package thetajoin.accelerator.interval

import thetajoin.kit.keys.Groups
import thetajoin.kit.{SegmentProber, Segments}

/** Finds the runs of rows that pass two lower bounds, one after another. */
private class BothAtLeastProber(
    isFirstStrict: Boolean,
    isSecondStrict: Boolean,
    groups: Groups,
    segments: Segments,
    tree: MaxTree
) extends SegmentProber(groups) {
  private var cursor = 0
  private var end = 0
  private var least = 0L

  override protected def none(): Unit = end = cursor

  override def probe(segment: Int, first: Long, second: Long): Unit = {
    end = segments.end(segment)
    if (isSecondStrict && second == Long.MaxValue) cursor = end
    else {
      least = if (isSecondStrict) second + 1 else second
      cursor = segments.from(segment, first, isFirstStrict)
    }
  }

  override def next(): Boolean = {
    val found = tree.next(cursor, end, least)
    if (found >= end) {
      cursor = end
      false
    } else {
      cursor = tree.endOfRun(found + 1, end, least)
      runFrom = found
      runUntil = cursor
      true
    }
  }
}
