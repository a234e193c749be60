package thetajoin.accelerator.piecewise

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.contract.{BatchProber, IndexBuilder, JoinIndex, LongProber, OrderedIndex, Prober}
import thetajoin.kit.{Directory, LongOrder, LongsBuilder}

private[piecewise] final class SortedLongsBuilder(spec: PiecewiseSpec) extends IndexBuilder {
  private val keys = new LongsBuilder

  override def add(row: InternalRow): Unit = keys.add(row.getLong(0))

  /** The keys twice, row numbers in two orders, and the directory. */
  override def bytes: Long = 2 * keys.bytes + 3 * 4L * keys.length

  override def finish(): OrderedIndex = {
    val order = spec.kept(LongOrder.ascending(keys.array, keys.length))
    val sorted = keys.inOrder(order)
    OrderedIndex(new SortedLongs(spec, sorted, Directory(sorted)), order)
  }
}

/** Build keys of 64 bits in ascending order, with a directory that leaves few of them to a search. */
final class SortedLongs(spec: PiecewiseSpec, keys: Array[Long], directory: Directory)
    extends JoinIndex {
  override def bytes: Long = 8L * keys.length + directory.bytes
  override def newProber(): Prober = new SortedLongsProber(spec, keys, directory)
}

private final class SortedLongsProber(spec: PiecewiseSpec, keys: Array[Long], directory: Directory)
    extends BoundaryProber(spec, keys.length)
    with LongProber
    with BatchProber {
  private val beforeEqual = spec.beforeEqual

  override def group(key: Long): Int = group()
  override def group(keys: InternalRow): Int = group()
  override def probe(group: Int, first: Long, second: Long): Unit = probe(first)

  override def probe(row: InternalRow): Unit = probe(row.getLong(0))

  override def probe(key: Long): Unit =
    // The first key above k is the first key that is at least k + 1.
    if (beforeEqual) boundary(directory.firstAtLeast(keys, key))
    else if (key == Long.MaxValue) boundary(keys.length)
    else boundary(directory.firstAtLeast(keys, key + 1))
}
