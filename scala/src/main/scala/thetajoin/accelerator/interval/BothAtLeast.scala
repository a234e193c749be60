package thetajoin.accelerator.interval

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{
  BatchProber,
  Batches,
  IndexBuilder,
  IndexSpec,
  JoinIndex,
  LongsProber,
  OrderedIndex,
  PositionSets,
  Prober
}
import thetajoin.kit.Segments
import thetajoin.kit.keys.{Groups, KeyedNumbers}

/**
 * Two lower bounds: `first build value >= first probe value AND second build value >= second probe value`, without
 * equality where they are strict. A key row has the keys that must be equal, then the two values.
 *
 * Rows are sorted by their first value, so the rows that pass the first bound are all from one position on. A
 * [[MaxTree]] finds which of them pass the second bound.
 *
 * @param keys how many columns must be equal
 * @param isFirstStrict whether the first value must not equal its bound
 * @param isSecondStrict the same for the second
 * @param isPoint whether the second probe value falls as the first rises: both are one number, negated in one of them
 * @param isLine whether all four are numbers of one line, the second build value and the second probe value negated: a
 *   build row is an interval from the second to the first, and so is a probe row from the first to the second
 */
final case class BothAtLeastSpec(
    keys: Int,
    isFirstStrict: Boolean,
    isSecondStrict: Boolean,
    isPoint: Boolean,
    isLine: Boolean
) extends IndexSpec {
  override def batches: Option[Batches] = Batches.by(2)

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new BothAtLeastBuilder(this, keyTypes.take(keys))
}

private final class BothAtLeastBuilder(spec: BothAtLeastSpec, types: Seq[DataType])
    extends IndexBuilder {
  private val rows = new KeyedNumbers(types, values = 2)

  override def add(row: InternalRow): Unit = rows.add(row)
  override def bytes: Long = rows.bytes

  override def finish(): OrderedIndex = {
    val sorted = rows.sortedBy(rows.column(0))
    val segments = Segments(sorted.starts, rows.column(0).inOrder(sorted.order))
    val tree = MaxTree(rows.column(1).inOrder(sorted.order), sorted.starts)
    OrderedIndex(new BothAtLeast(spec, rows.groups, segments, tree), sorted.order)
  }
}

final class BothAtLeast(
    spec: BothAtLeastSpec,
    groups: Groups,
    segments: Segments,
    tree: MaxTree
) extends JoinIndex {
  private def first = spec.isFirstStrict
  private def second = spec.isSecondStrict

  override def bytes: Long = groups.bytes + segments.bytes + tree.bytes

  override def newProber(): Prober = groups match {
    case _: Groups.OfBytes => new BothAtLeastProber(first, second, groups, segments, tree)
    case _ => new BothAtLeastProber(first, second, groups, segments, tree) with LongsProber
  }

  override def newBatchProber(): Option[Prober with BatchProber] =
    if (spec.isPoint)
      Some(new PointSweep(first, second, groups, segments, tree))
    else super.newBatchProber()

  override def positionSets: Option[PositionSets] =
    if (spec.isLine && segments.numbers.length <= IntervalSets.MostRows)
      Some(new IntervalSets(first, second, groups, segments, tree))
    else None
}
