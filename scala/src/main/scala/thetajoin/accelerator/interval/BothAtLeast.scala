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
import thetajoin.kit.keys.{Groups, KeyedNumbers}
import thetajoin.kit.{SegmentProber, Segments}

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
  override def bytes: Long = groups.bytes + segments.bytes + tree.bytes

  override def newProber(): Prober = groups match {
    case _: Groups.OfBytes => new BothAtLeastProber(spec, groups, segments, tree)
    case _ => new BothAtLeastProber(spec, groups, segments, tree) with LongsProber
  }

  override def newBatchProber(): Option[Prober with BatchProber] =
    if (spec.isPoint)
      Some(new PointSweep(spec.isFirstStrict, spec.isSecondStrict, groups, segments, tree))
    else super.newBatchProber()

  override def positionSets: Option[PositionSets] =
    if (spec.isLine && segments.numbers.length <= IntervalSets.MostRows)
      Some(new IntervalSets(spec, groups, segments, tree))
    else None
}

private class BothAtLeastProber(
    spec: BothAtLeastSpec,
    groups: Groups,
    segments: Segments,
    tree: MaxTree
) extends SegmentProber(groups) {
  private val isFirstStrict = spec.isFirstStrict
  private val isSecondStrict = spec.isSecondStrict
  private var cursor = 0
  private var end = 0
  private var least = 0L

  override protected def none(): Unit = end = cursor

  override def probe(segment: Int, first: Long, second: Long): Unit = {
    end = segments.end(segment)
    if (isSecondStrict && second == Long.MaxValue) cursor = end
    else {
      least = if (isSecondStrict) second + 1 else second
      cursor = segments.from(segment, first, isFirstStrict)
    }
  }

  override def next(): Boolean = {
    val found = tree.next(cursor, end, least)
    if (found >= end) {
      cursor = end
      false
    } else {
      cursor = tree.endOfRun(found + 1, end, least)
      runFrom = found
      runUntil = cursor
      true
    }
  }
}
