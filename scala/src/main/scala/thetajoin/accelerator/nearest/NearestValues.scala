package thetajoin.accelerator.nearest

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{
  IndexBuilder,
  IndexSpec,
  JoinIndex,
  KeyErrors,
  OrderedIndex,
  Prober,
  SingleRunProber
}
import thetajoin.kit.keys.{Grouping, Groupings, Groups}
import thetajoin.kit.{KeyTypes, ValueOrder, ValueRows}
import thetajoin.rowstore.RowPages

/**
 * As [[NearestSpec]], of values that don't fit 64 bits. A build key row has the keys that must be equal, then a
 * value; a probe key row those keys, then the values that are its bounds.
 *
 * @param isAscending whether the values of a key are in ascending order, or in descending
 * @param isFromStrict whether the value must not equal the bound from which on values match, in that order; None if
 *   there is none
 * @param isUntilStrict the same of the bound up to which they do
 */
final case class NearestValuesSpec(
    keys: Int,
    isAscending: Boolean,
    isFromStrict: Option[Boolean],
    isUntilStrict: Option[Boolean],
    isFirst: Boolean = false
) extends IndexSpec {
  override def keyErrors: KeyErrors = KeyErrors.Raised
  override def forOne: IndexSpec = copy(isFirst = true)
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new NearestValuesBuilder(this, keyTypes.take(keys), keyTypes(keys))

  private[nearest] def ordering(valueType: DataType): Ordering[InternalRow] =
    ValueOrder.of(valueType, if (isAscending) Ascending else Descending)
}

private final class NearestValuesBuilder(
    spec: NearestValuesSpec,
    keyTypes: Seq[DataType],
    valueType: DataType
) extends IndexBuilder {
  private val grouping = Groupings.by(keyTypes)
  private val keysOf = UnsafeProjection.create(keyTypes.toArray)
  private val valueOf = NearestValues.column(keyTypes.size, valueType)
  private val values = new ValueRows

  override def add(row: InternalRow): Unit = {
    grouping.add(keysOf(row))
    values.add(valueOf(row))
  }

  override def bytes: Long = grouping.bytes + values.bytes

  override def finish(): OrderedIndex = {
    val ordering = spec.ordering(valueType)
    val byValue = values.sorted { (a, b) =>
      cancellation.count(1)
      ordering.compare(a, b)
    }
    val grouped = grouping.grouped()
    val sorted =
      if (keyTypes.isEmpty) Grouping(Array(0, values.size), byValue) else grouped.sortedBy(byValue)
    val pages = RowPages.of(sorted.order.iterator.map(values(_)), Seq(valueType))
    val index =
      new NearestValues(spec, grouping.groups, sorted.starts, KeyTypes(Seq(valueType)), pages)
    OrderedIndex(index, sorted.order)
  }
}

final class NearestValues(
    spec: NearestValuesSpec,
    groups: Groups,
    starts: Array[Int],
    valueType: KeyTypes,
    values: RowPages
) extends JoinIndex {
  override def bytes: Long = groups.bytes + 4L * starts.length + values.bytes
  override def newProber(): Prober =
    new NearestValuesProber(spec, groups, starts, valueType.all.head, values)
}

private object NearestValues {

  /** A row of one column of a key row. */
  def column(ordinal: Int, t: DataType): UnsafeProjection =
    UnsafeProjection.create(Seq(BoundReference(ordinal, t, nullable = true)))
}

private final class NearestValuesProber(
    spec: NearestValuesSpec,
    groups: Groups,
    starts: Array[Int],
    valueType: DataType,
    values: RowPages
) extends SingleRunProber {
  private val ordering = spec.ordering(valueType)
  private val cursor = values.newCursor()
  private val segmentOf: InternalRow => Int = groups match {
    case Groups.One(_) => _ => 0
    case Groups.OfNumbers(table) => row => table.find(row.getLong(0))
    case bytes: Groups.OfBytes =>
      val finder = new Groups.Finder(bytes)
      finder.find(_)
  }
  private val fromOf = NearestValues.column(spec.keys, valueType)
  private val untilOf = NearestValues.column(spec.keys + spec.isFromStrict.size, valueType)

  override def probe(keys: InternalRow): Unit = {
    val segment = segmentOf(keys)
    if (segment < 0) run(0, 0)
    else {
      val from = spec.isFromStrict.fold(starts(segment)) { strict =>
        boundary(segment, fromOf(keys), afterEqual = strict)
      }
      val until = spec.isUntilStrict.fold(starts(segment + 1)) { strict =>
        boundary(segment, untilOf(keys), afterEqual = !strict)
      }
      run(from, if (spec.isFirst) math.min(from + 1, until) else until)
    }
  }

  /** The first row of a segment that is not before a value, nor equal to it if equal rows are passed as well. */
  private def boundary(segment: Int, value: InternalRow, afterEqual: Boolean): Int = {
    var low = starts(segment)
    var high = starts(segment + 1)
    while (low < high) {
      val middle = (low + high) >>> 1
      val c = ordering.compare(cursor.at(middle), value)
      if (c < 0 || c == 0 && afterEqual) low = middle + 1 else high = middle
    }
    low
  }
}
