package thetajoin.accelerator.boxes

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.condition.PairTest
import thetajoin.contract.{
  IndexBuilder,
  IndexSpec,
  JoinIndex,
  LongsProber,
  OrderedIndex,
  Prober
}
import thetajoin.kit.PairValues
import thetajoin.kit.keys.KeyedNumbers

/**
 * Three lower bounds or more: each build value must be at least the probe value at its place, and more than it where
 * that is strict. A key row has the keys that must be equal, and a value for each bound. Both ends in each dimension
 * follow if rows are ranked by distance, and then the tested value if there is one.
 *
 * @param keys how many columns must be equal
 * @param strict for each bound, whether the value must not equal it
 * @param tested how rows that pass the bounds are tested
 * @param distance the distance by which a probe row's matches are ranked, if they are
 * @param asksFirst whether one candidate of a probe row is enough
 */
final case class BoxesSpec(
    keys: Int,
    strict: Seq[Boolean],
    extents: Seq[Extent],
    tested: Option[TestedValue] = None,
    distance: Option[RankedDistance] = None,
    asksFirst: Boolean = false
) extends IndexSpec {
  override def forOne: IndexSpec = copy(asksFirst = true)

  /** Of each row. */
  def numbers: Int = strict.size + 2 * distance.fold(0)(_.dimensions)

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new BoxesBuilder(this, keyTypes.take(keys))
}

/** A test of one value of each side; `isLeft` if the build row's value is the left one. */
final case class TestedValue(test: PairTest, isLeft: Boolean)

private final class BoxesBuilder(spec: BoxesSpec, types: Seq[DataType]) extends IndexBuilder {
  private val rows = new KeyedNumbers(types, spec.numbers)

  private val values = mutable.ArrayBuffer.empty[Array[Byte]]
  private var valueBytes = 0L
  private var added = 0

  override def add(row: InternalRow): Unit = {
    rows.add(row)
    added += 1
    if (spec.tested.isDefined) {
      values += row.getBinary(row.numFields - 1)
      valueBytes += values.last.length
    }
  }

  /** Each number is there as it came, in order, and rounded to half its size. */
  override def bytes: Long = rows.bytes + 4L * spec.numbers * added +
    PairValues.BytesOfValue * values.length + valueBytes

  override def finish(): OrderedIndex = {
    val grouped = rows.grouped()
    // Without keys there is one group, be it empty.
    val groups =
      if (types.isEmpty) grouped.copy(starts = Array(0, grouped.order.length)) else grouped
    val columns = Array.tabulate(spec.numbers)(rows.takeColumn)
    new BoxLayout(columns, groups.order.length, spec.extents, cancellation).arrange(groups)
    val tree = BoundTree(columns, groups.order, spec.extents)
    val tested =
      spec.tested.map(t => new PairValues(t.test, t.isLeft, groups.order.map(values(_))))
    val boxes = new BoxRows(
      spec.strict.toArray,
      spec.asksFirst,
      rows.groups,
      groups.starts,
      tree,
      tested.orNull
    )
    OrderedIndex(new Boxes(boxes, spec.distance.orNull), groups.order)
  }
}

/** @param distance by which matches are ranked; null if they are not */
final class Boxes(rows: BoxRows, distance: RankedDistance) extends JoinIndex {
  override def bytes: Long = rows.bytes

  override def newProber(): Prober =
    if (distance == null) {
      if (rows.areNumbers) new BoxesProber(rows) with LongsProber else new BoxesProber(rows)
    } else if (rows.areNumbers) new NearestBoxesProber(rows, distance) with LongsProber
    else new NearestBoxesProber(rows, distance)
}
