package thetajoin.driver.unmatched

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.driver.Existence

/** Probe rows that end with a null. It stands in for build rows that are part of the result by themselves. */
trait EndsWithTail extends Iterator[InternalRow] {

  /** The build rows of the tail, once the null was given. */
  def tail: BuildTail
}

/**
 * Stands in for probe rows in the partitions that emit build rows by themselves: an iterator of one null, and
 * the runs of positions in `[from, until)` to emit. For an existence join the matched rows come first, then the others.
 *
 * @param matchedBits a bit for each position, the first for `first`
 */
final class BuildTail(matchedBits: Array[Long], first: Int, end: Int, emits: Existence)
    extends EndsWithTail {
  private var wasGiven = false
  private var phaseMatched = emits != Existence.Unmatched
  private var position = first
  private var runFrom = first

  override def tail: BuildTail = this

  override def hasNext: Boolean = !wasGiven

  override def next(): InternalRow = {
    wasGiven = true
    null
  }

  def from: Int = runFrom
  def until: Int = position
  def matched: Boolean = phaseMatched

  def nextRun(): Boolean = {
    while (position < end && bit(position) != phaseMatched) position += 1
    if (position < end) {
      runFrom = position
      while (position < end && bit(position) == phaseMatched) position += 1
      true
    } else if (phaseMatched && emits == Existence.Marked) {
      phaseMatched = false
      position = first
      nextRun()
    } else false
  }

  private def bit(p: Int): Boolean = ((matchedBits((p - first) >> 6) >>> p) & 1L) != 0L
}
