package thetajoin.driver.probe

import org.apache.spark.sql.catalyst.InternalRow

/**
 * Probe rows that are looked up many at a time. They come out from the last to the first, each with its candidates
 * started.
 */
private[driver] final class StartedTogether(
    probe: Iterator[InternalRow],
    finder: MatchFinder,
    most: Int
) extends Iterator[InternalRow] {
  private val rows = new Array[InternalRow](most)
  private val groups = new Array[Int](most)
  private var count = 0

  override def hasNext: Boolean = {
    if (count == 0)
      while (count < most && probe.hasNext) {
        val row = probe.next()
        rows(count) = if (row == null) null else row.copy()
        groups(count) = if (row == null) Candidates.TailGroup else finder.group(row)
        count += 1
      }
    count > 0
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    count -= 1
    finder.candidates.probe(groups(count), 0L, 0L)
    rows(count)
  }
}
