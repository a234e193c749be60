package thetajoin.accelerator.interval

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.accelerator._
import thetajoin.accelerator.keys.{Grouping, KeyedNumbers}

/**
 * More lower bounds than two, of which an index answers those two that leave the fewest rows. Which they are is estimated from the
 * build rows when all are there. A key row has the keys that must be equal, then a value for each bound.
 *
 * @param keys how many columns must be equal
 * @param strict for each bound, whether the value must not equal it
 * @param points the pairs of bounds, each the lower number first, that are one number of the probe row, once turned over
 * @param likeness for each bound, what build rows tell of it
 */
final case class BestPairSpec(
    keys: Int,
    strict: Seq[Boolean],
    points: Seq[(Int, Int)],
    likeness: Seq[Likeness]
) extends IndexSpec {
  override def bounds: Int = strict.size

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new BestPairBuilder(this, keyTypes.take(keys))

  private[interval] def of(pair: BoundPair): BothAtLeastSpec = BothAtLeastSpec(
    keys,
    strict(pair.first),
    strict(pair.second),
    points.contains((pair.first, pair.second))
  )
}

/** That the numbers which probe rows set as a bound lie where build rows have the value of this bound, turned over or not. */
final case class Likeness(bound: Int, isTurned: Boolean)

private[interval] object Likeness {

  /**
   * For each of these bounds. A column is like one of the same name; two ends of a probe row's point are like one end of the build
   * row's interval; of two neighbours from opposite ends, each is like the other: intervals overlap. Without any of these a value is
   * like that which it is compared with.
   */
  def of(bounds: IndexedSeq[Bound]): Seq[Likeness] = {
    def like(i: Int, j: Int) = Likeness(j, bounds(i).isOpposite(bounds(j)))
    def known(i: Int): Option[Likeness] = {
      val point = bounds.indices.find(j => j != i && bounds(i).isSamePoint(bounds(j)))
      val named = bounds.indices.find(j => bounds(i).probeNames == bounds(j).buildNames)
      point.map(j => like(i, math.min(i, j))).orElse(named.map(like(i, _)))
    }
    val found = bounds.indices.map(known)
    def isFree(i: Int) = bounds.indices.contains(i) && found(i).isEmpty
    // Neighbours in pairs: the first of those that nothing is known of, with the next.
    val rank = bounds.indices.map(i => Iterator.iterate(i - 1)(_ - 1).takeWhile(isFree).size)
    bounds.indices.map { i =>
      val other = if (rank(i) % 2 == 0) i + 1 else i - 1
      found(i).getOrElse(
        if (isFree(other) && bounds(i).isOpposite(bounds(other))) like(i, other) else like(i, i)
      )
    }
  }
}

private final class BestPairBuilder(spec: BestPairSpec, types: Seq[DataType]) extends IndexBuilder {
  private val rows = new KeyedNumbers(types, spec.bounds)

  override def add(row: InternalRow): Unit = rows.add(row)

  override def finish(): OrderedIndex = {
    val groups = rows.grouped()
    val columns = Array.tabulate(spec.bounds)(rows.column(_).array)
    val pair = new PairSample(columns, groups, spec).best
    BothAtLeast.ofColumns(spec.of(pair), rows, rows.sortedBy(pair.first, groups), pair)
  }
}

/**
 * How many rows each pair of bounds leaves of those with equal keys, by a sample of the build rows, each asked for by some of
 * them: as if the probe rows lay where the build rows do, as far as [[Likeness]] tells.
 */
private[interval] final class PairSample(
    columns: Array[Array[Long]],
    groups: Grouping,
    spec: BestPairSpec
) {
  import PairSample._

  private val bounds = columns.length
  private val pairs =
    for (first <- 0 until bounds; second <- first + 1 until bounds) yield BoundPair(first, second)

  /** The pair that leaves the fewest; the first of such. */
  def best: BoundPair = {
    val left = counts()
    pairs(left.indices.minBy(left(_)))
  }

  /** For each pair. */
  private def counts(): Array[Double] = {
    val left = new Array[Double](pairs.size)
    val asked = new Array[Long](bounds)
    val passes = new Array[Boolean](bounds)
    var group = 0
    for (at <- evenly(0, groups.order.length, Probes)) {
      while (groups.starts(group + 1) <= at) group += 1
      ask(groups.order(at), asked)
      val looked = evenly(groups.starts(group), groups.starts(group + 1), Rows)
      for (place <- looked) {
        compare(groups.order(place), asked, passes)
        // Each stands for those up to the next.
        count(passes, left, looked.step)
      }
    }
    left
  }

  /** The bounds of a probe row that lies where a build row does. */
  private def ask(row: Int, asked: Array[Long]): Unit =
    for (i <- asked.indices) {
      val like = spec.likeness(i)
      val value = columns(like.bound)(row)
      asked(i) = if (like.isTurned) ~value else value
    }

  private def compare(row: Int, asked: Array[Long], passes: Array[Boolean]): Unit = {
    var i = 0
    while (i < passes.length) {
      val value = columns(i)(row)
      passes(i) = if (spec.strict(i)) value > asked(i) else value >= asked(i)
      i += 1
    }
  }

  private def count(passes: Array[Boolean], left: Array[Double], rows: Int): Unit = {
    var i = 0
    while (i < left.length) {
      val pair = pairs(i)
      if (passes(pair.first) && passes(pair.second)) left(i) += rows
      i += 1
    }
  }
}

private[interval] object PairSample {
  private val Probes = 64
  private val Rows = 1024

  /** So many of the numbers in `[from, until)` at most, with as much between them. */
  private def evenly(from: Int, until: Int, most: Int): Range =
    from until until by math.max(1, (until - from + most - 1) / most)
}
