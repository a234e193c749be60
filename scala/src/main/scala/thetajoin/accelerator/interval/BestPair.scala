package thetajoin.accelerator.interval

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.accelerator._
import thetajoin.accelerator.keys.KeyedNumbers

/**
 * More lower bounds than two, of which an index answers those two that leave the fewest rows. Which they are is estimated from the
 * build rows when all are there. A key row has the keys that must be equal, then a value for each bound.
 *
 * @param keys how many columns must be equal
 * @param strict for each bound, whether the value must not equal it
 * @param points the pairs of bounds, each the lower number first, that are one number of the probe row, once turned over
 */
final case class BestPairSpec(keys: Int, strict: Seq[Boolean], points: Seq[(Int, Int)])
    extends IndexSpec {
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

private final class BestPairBuilder(spec: BestPairSpec, types: Seq[DataType]) extends IndexBuilder {
  private val rows = new KeyedNumbers(types, spec.bounds)

  override def add(row: InternalRow): Unit = rows.add(row)

  override def finish(): OrderedIndex = {
    val columns = Array.tabulate(spec.bounds)(rows.column(_).array)
    val pair = new PairSample(columns, rows.column(0).length, spec).best
    BothAtLeast.ofColumns(spec.of(pair), rows, pair)
  }
}

/**
 * How many rows each pair of bounds leaves, by a sample of the build rows, each asked for by some of them: as if the probe
 * rows were spread as the build rows are.
 */
private[interval] final class PairSample(
    columns: Array[Array[Long]],
    rows: Int,
    spec: BestPairSpec
) {
  import PairSample._

  private val bounds = columns.length

  /** The pair that leaves the fewest; the first of such. */
  def best: BoundPair = {
    val left = counts()
    pairs(bounds).minBy { case BoundPair(first, second) => left(first)(second) }
  }

  private def counts(): Array[Array[Long]] = {
    val left = Array.ofDim[Long](bounds, bounds)
    val asked = new Array[Long](bounds)
    val passes = new Array[Boolean](bounds)
    for (probe <- evenly(rows, Probes)) {
      ask(probe, asked)
      for (row <- evenly(rows, Rows)) {
        var i = 0
        while (i < bounds) {
          val value = columns(i)(row)
          passes(i) = if (spec.strict(i)) value > asked(i) else value >= asked(i)
          i += 1
        }
        count(passes, left)
      }
    }
    left
  }

  private def count(passes: Array[Boolean], left: Array[Array[Long]]): Unit = {
    var first = 0
    while (first < bounds) {
      var second = first + 1
      while (second < bounds) {
        if (passes(first) && passes(second)) left(first)(second) += 1
        second += 1
      }
      first += 1
    }
  }

  /** The bounds of a probe row that lies where a build row does: a point is at the start of the row's interval. */
  private def ask(row: Int, bounds: Array[Long]): Unit = {
    for (i <- bounds.indices) bounds(i) = columns(i)(row)
    for ((first, second) <- spec.points) bounds(second) = ~bounds(first)
  }
}

private[interval] object PairSample {
  private val Probes = 64
  private val Rows = 1024

  def pairs(bounds: Int): Seq[BoundPair] =
    for (first <- 0 until bounds; second <- first + 1 until bounds) yield BoundPair(first, second)

  /** So many of the row numbers at most, with as much between them. */
  private def evenly(rows: Int, most: Int): Range = 0 until rows by math.max(1, rows / most)
}
