package thetajoin.accelerator.piecewise

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.contract.{BatchProber, IndexBuilder, JoinIndex, LongsProber, OrderedIndex, Prober}
import thetajoin.kit.{Directory, LongOrder, LongsBuilder}

private[piecewise] final class SortedLongsBuilder(boundary: Boundary, extreme: Boolean)
    extends IndexBuilder {
  private val keys = new LongsBuilder

  override def add(row: InternalRow): Unit = keys.add(row.getLong(0))

  /** The keys twice, row numbers in two orders, and the directory. */
  override def bytes: Long = 2 * keys.bytes + 3 * 4L * keys.length

  override def finish(): OrderedIndex = {
    val all = LongOrder.ascending(keys.array, keys.length)
    val order = if (extreme) boundary.extreme(all) else all
    val sorted = keys.inOrder(order)
    OrderedIndex(new SortedLongs(boundary, sorted, Directory(sorted)), order)
  }
}

/** Build keys of 64 bits in ascending order, with a directory that leaves few of them to a search. */
private[piecewise] final class SortedLongs(
    boundary: Boundary,
    keys: Array[Long],
    directory: Directory
) extends JoinIndex {
  override def bytes: Long = 8L * keys.length + directory.bytes
  override def newProber(): Prober = new SortedLongsProber(boundary, keys, directory)
}

private final class SortedLongsProber(boundary: Boundary, keys: Array[Long], directory: Directory)
    extends BoundaryProber(boundary, keys.length)
    with LongsProber
    with BatchProber {
  private val beforeEqual = boundary.beforeEqual

  override def group(key: Long): Int = 0
  override def group(keys: InternalRow): Int = 0
  override def probe(group: Int, first: Long, second: Long): Unit = probe(first)

  override def probe(row: InternalRow): Unit = probe(row.getLong(0))
  override def probe(key: Array[Long]): Boolean = {
    probe(key(0))
    true
  }

  private def probe(key: Long): Unit =
    // The first key above k is the first key that is at least k + 1.
    if (beforeEqual) runAt(directory.firstAtLeast(keys, key))
    else if (key == Long.MaxValue) runAt(keys.length)
    else runAt(directory.firstAtLeast(keys, key + 1))
}
