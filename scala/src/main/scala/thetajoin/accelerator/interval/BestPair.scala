package thetajoin.accelerator.interval

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{BoundPair, IndexBuilder, IndexSpec, OrderedIndex}
import thetajoin.kit.Bound
import thetajoin.kit.keys.{Grouping, KeyedNumbers}

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
    BothAtLeast.ofColumns(spec.of(pair), rows, rows.sortedBy(rows.column(pair.first), groups), pair)
  }
}

/**
 * How many rows each pair of bounds leaves of those with equal keys, by a sample of the build rows, each asked for by some of
 * them: as if the probe rows lay where the build rows do, as far as [[Likeness]] tells. What is not alike may depend on each other as
 * it does in build rows, or not at all: of both the one that leaves more counts.
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

  /** For each bound, which of several build rows a probe row's number for it is like: the same one for what is alike. */
  private val likeRow: Array[Int] = {
    val first = Array.range(0, bounds)
    for (i <- first.indices) {
      val (from, to) = (first(i), first(spec.likeness(i).bound))
      for (j <- first.indices if first(j) == from) first(j) = to
    }
    first.map(first.distinct.indexOf(_))
  }

  /** How many rows one that is looked at stands for, at most. */
  private var step = 1

  /** The pair that leaves the fewest; of such those that bound one number of the probe row from both ends, or else the first. */
  def best: BoundPair = {
    val asInRows = counts(_ => 0)
    val apart = if (likeRow.forall(_ == 0)) asInRows else counts(likeRow(_))
    val pair = pairs.indices.minBy { i =>
      val isPoint = spec.points.contains((pairs(i).first, pairs(i).second))
      (math.max(FewHits * step, math.max(asInRows(i), apart(i))), !isPoint)
    }
    pairs(pair)
  }

  /**
   * For each pair.
   *
   * @param likeRow for each bound, which of as many build rows as there are bounds is asked as the probe row
   */
  private def counts(likeRow: Int => Int): Array[Long] = {
    val left = new Array[Long](pairs.size)
    val asked = new Array[Long](bounds)
    val passes = new Array[Boolean](bounds)
    var group = 0
    for (at <- evenly(0, groups.order.length, Probes)) {
      while (groups.starts(group + 1) <= at) group += 1
      val (from, until) = (groups.starts(group), groups.starts(group + 1))
      for (i <- asked.indices) {
        val away = likeRow(i).toLong * (until - from) / bounds
        asked(i) = number(i, groups.order(from + ((at - from + away) % (until - from)).toInt))
      }
      val looked = evenly(from, until, math.max(Rows, (until - from) / RowsForEach))
      step = math.max(step, looked.step)
      for (place <- looked) {
        compare(groups.order(place), asked, passes)
        // Each stands for those up to the next.
        count(passes, left, looked.step)
      }
    }
    left
  }

  /** What a probe row that is like a build row asks of a bound. */
  private def number(i: Int, row: Int): Long = {
    val like = spec.likeness(i)
    val value = columns(like.bound)(row)
    if (like.isTurned) ~value else value
  }

  /** Equal values pass even where they must not: then a row finds itself, and a value that all rows have is passed by all. */
  private def compare(row: Int, asked: Array[Long], passes: Array[Boolean]): Unit = {
    var i = 0
    while (i < passes.length) {
      passes(i) = columns(i)(row) >= asked(i)
      i += 1
    }
  }

  private def count(passes: Array[Boolean], left: Array[Long], rows: Int): Unit = {
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

  /** So many are looked at for a probe row, and of very many one in so many. */
  private val Rows = 1024
  private val RowsForEach = 128

  /** Fewer than these of all that are looked at tell nothing. */
  private val FewHits = 8L

  /** So many of the numbers in `[from, until)` at most, with as much between them. */
  private def evenly(from: Int, until: Int, most: Int): Range =
    from until until by math.max(1, (until - from + most - 1) / most)
}
