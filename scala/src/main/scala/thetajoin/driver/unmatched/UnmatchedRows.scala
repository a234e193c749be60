package thetajoin.driver.unmatched

import java.io.NotSerializableException

import org.apache.spark.SparkException

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

  def isMatched(position: Int): Boolean = skip(position) != position

  /** Marks a row that is unmatched. */
  def mark(position: Int): Unit = skip(position) = position + 1

  /** Marks the rows at places of a list. */
  def markListed(positions: Array[Int], from: Int, until: Int): Unit = {
    var i = from
    while (i < until) {
      if (!isMatched(positions(i))) mark(positions(i))
      i += 1
    }
  }

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

  /** The marks for the positions of `[from, until)`; `from` is a multiple of 64. */
  def slice(from: Int, until: Int): MatchedSlice = {
    val matched = MatchedSlice.bits(from, until)(isMatched)
    if (failed == null) MatchedSlice(matched, null, null)
    else {
      val words = (until - from + 63) >> 6
      val held = java.util.Arrays.copyOfRange(failed, from >> 6, (from >> 6) + words)
      MatchedSlice(matched, held, MatchedSlice.bytesOf(firstError))
    }
  }
}

/**
 * The findings of one task for a slice of build rows.
 *
 * @param matched a bit for each row
 * @param failed a bit for each row that was part of a pair which raised an error; null if there is none
 * @param error the first of those errors, as bytes: it is of any class
 */
private[thetajoin] final case class MatchedSlice(
    matched: Array[Long],
    failed: Array[Long],
    error: Array[Byte]
) {

  /** Whether an error counts: its row has no match in any task. */
  def raises(matchedAnywhere: Array[Long]): Boolean =
    failed != null && failed.indices.exists(i => (failed(i) & ~matchedAnywhere(i)) != 0)

  def raise(): Nothing = throw JavaBytes.read[Throwable](error)
}

private[thetajoin] object MatchedSlice {

  /** An error that can't be written is given by its message. */
  private[driver] def bytesOf(error: Throwable): Array[Byte] =
    try JavaBytes.of(error)
    catch { case _: NotSerializableException => JavaBytes.of(new SparkException(error.toString)) }

  def bits(from: Int, until: Int)(isMatched: Int => Boolean): Array[Long] = {
    val bits = new Array[Long]((until - from + 63) >> 6)
    var p = from
    while (p < until) {
      if (isMatched(p)) bits((p - from) >> 6) |= 1L << (p - from)
      p += 1
    }
    bits
  }
}
