package thetajoin.driver

/**
 * The build rows that have found no match yet. `next` skips matched ones however many lie in between: a matched
 * position points to the one after it, and chains are halved on the way (union-find), so that marking a long run
 * again and again costs nothing.
 */
final class UnmatchedRows(rows: Int) {
  private val skip = Array.range(0, rows + 1)

  /** The first unmatched position from `position` on; `rows` if there is none. */
  def next(position: Int): Int = {
    var p = position
    while (skip(p) != p) {
      skip(p) = skip(skip(p))
      p = skip(p)
    }
    p
  }

  def mark(position: Int): Unit = skip(position) = position + 1

  def markRun(from: Int, until: Int): Unit = {
    var p = next(from)
    while (p < until) {
      mark(p)
      p = next(p + 1)
    }
  }

  def isEmpty: Boolean = next(0) == rows

  /** A bit for each position of `[from, until)`, set if matched; `from` is a multiple of 64. */
  def matchedBits(from: Int, until: Int): Array[Long] = {
    val bits = new Array[Long]((until - from + 63) >> 6)
    var p = from
    while (p < until) {
      if (skip(p) != p) bits((p - from) >> 6) |= 1L << p
      p += 1
    }
    bits
  }
}
