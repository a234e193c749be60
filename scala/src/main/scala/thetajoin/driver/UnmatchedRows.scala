package thetajoin.driver

/**
 * The build rows that have found no match yet. `next` skips matched ones however many lie in between: a matched
 * position points to the one after it, and chains are halved on the way (union-find), so that marking a long run
 * again and again costs nothing.
 */
final class UnmatchedRows(rows: Int) {
  private val skip = Array.range(0, rows + 1)
  private var failed: Array[Long] = _
  private var firstError: Throwable = _

  /** The first unmatched position from `position` on; `until` or more if there is none below it. */
  def next(position: Int, until: Int): Int = {
    var p = position
    while (p < until && skip(p) != p) {
      skip(p) = skip(skip(p))
      p = skip(p)
    }
    p
  }

  def mark(position: Int): Unit = skip(position) = position + 1

  def markRun(from: Int, until: Int): Unit = {
    var p = next(from, until)
    while (p < until) {
      mark(p)
      p = next(p + 1, until)
    }
  }

  /** A pair of the row raised an error, which counts only if the row has no match anywhere. */
  def hold(position: Int, error: Throwable): Unit = {
    if (failed == null) {
      failed = new Array[Long]((rows + 63) >> 6)
      firstError = error
    }
    failed(position >> 6) |= 1L << position
  }

  def isEmpty: Boolean = next(0, rows) >= rows

  /** What was found for the positions of `[from, until)`; `from` is a multiple of 64. */
  def slice(from: Int, until: Int): MatchedSlice = {
    val words = (until - from + 63) >> 6
    val held = if (failed == null) null
    else java.util.Arrays.copyOfRange(failed, from >> 6, (from >> 6) + words)
    MatchedSlice(matchedBits(from, until), held, firstError)
  }

  private def matchedBits(from: Int, until: Int): Array[Long] = {
    val bits = new Array[Long]((until - from + 63) >> 6)
    var p = from
    while (p < until) {
      if (skip(p) != p) bits((p - from) >> 6) |= 1L << p
      p += 1
    }
    bits
  }
}

/**
 * What one task found for a slice of build rows.
 *
 * @param matched a bit for each row
 * @param failed a bit for each row that was part of a pair which raised an error; null if there is none
 * @param error the first of those errors
 */
private[driver] final case class MatchedSlice(
    matched: Array[Long],
    failed: Array[Long],
    error: Throwable
) {

  /** Whether an error counts: a row that failed is not among those with a match in any task. */
  def raises(matchedAnywhere: Array[Long]): Boolean =
    failed != null && failed.indices.exists(i => (failed(i) & ~matchedAnywhere(i)) != 0)
}
