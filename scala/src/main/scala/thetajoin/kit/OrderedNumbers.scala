package thetajoin.kit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types._

import thetajoin.condition.OrderedLong
import thetajoin.rowstore.RowPages

/**
 * Numbers of 64 bits for the values of a build column: an odd one for each value, in their order. A probe value that
 * equals one of them has the same number, and any other has a number between the numbers of its neighbours.
 */
private[kit] abstract class OrderedNumbers extends Serializable {
  def bytes: Long
  def newFinder(): ValueFinder
}

private[kit] object OrderedNumbers {

  /** @param rows which have the values in a column; none is null */
  def prefix(t: DataType, rows: Iterator[InternalRow], column: Int): ValuePrefix = t match {
    case s: StringType if s.collationId == StringType.collationId => TextPrefix
    case BinaryType => BytesPrefix
    case d: DecimalType => DecimalPrefix.made(d, rows, column)
    case s: StructType if s.headOption.exists(f => OrderedLong.orders(f.dataType)) =>
      FieldsPrefix.made(s, rows, column)
    case _ => NoPrefix
  }

  val wireClasses: Seq[Class[_]] = Seq(
    TextPrefix.getClass,
    BytesPrefix.getClass,
    NoPrefix.getClass,
    classOf[DistinctValues],
    classOf[ExactNumbers],
    classOf[Array[OrderedNumbers]],
    classOf[DecimalPrefix],
    classOf[FieldsPrefix],
    classOf[FieldCode],
    classOf[Array[FieldCode]]
  )
}

/** Finds the numbers of probe values, for one task. */
private[kit] abstract class ValueFinder {
  def number(row: InternalRow, column: Int): Long

  /** The number below or above all structs with this number as their first field. */
  def ofFirst(first: Long, isAbove: Boolean): Long
}

/** The numbers are made of the values, without a look-up. */
private[kit] final case class ExactNumbers(prefix: ValuePrefix) extends OrderedNumbers {
  override def bytes: Long = 0

  override def newFinder(): ValueFinder = new ValueFinder {
    override def number(row: InternalRow, column: Int): Long = prefix.of(row, column)

    override def ofFirst(first: Long, isAbove: Boolean): Long = {
      val fields = prefix.asInstanceOf[FieldsPrefix]
      if (isAbove) fields.aboveFirst(first) else fields.belowFirst(first)
    }
  }
}

/**
 * Distinct values of an ordered type in ascending order. Numbers of 64 bits that stand for them, the first bytes of a
 * string for instance, leave few of them to compare.
 *
 * @param prefixes in ascending order, equal where values are not told apart by them
 */
private[kit] final class DistinctValues private (
    valueType: KeyTypes,
    prefix: ValuePrefix,
    prefixes: Array[Long],
    directory: Directory,
    values: RowPages
) extends OrderedNumbers {
  override def bytes: Long = 8L * prefixes.length + directory.bytes + values.bytes

  override def newFinder(): ValueFinder =
    new DistinctFinder(valueType.all.head, prefix, prefixes, directory, values)
}

private object DistinctValues {

  /** @param rows which have the values in a column, in their order */
  def apply(
      rows: Seq[InternalRow],
      column: Int,
      t: DataType,
      prefix: ValuePrefix
  ): DistinctValues = {
    val prefixes = rows.iterator.map(prefix.of(_, column)).toArray
    val read = InternalRow.getAccessor(t, nullable = false)
    val pages = RowPages.of(rows.iterator.map(row => InternalRow(read(row, column))), Seq(t))
    new DistinctValues(KeyTypes(Seq(t)), prefix, prefixes, Directory(prefixes), pages)
  }
}

private final class DistinctFinder(
    valueType: DataType,
    prefix: ValuePrefix,
    prefixes: Array[Long],
    directory: Directory,
    values: RowPages
) extends ValueFinder {
  private val read = InternalRow.getAccessor(valueType, nullable = false)
  private val ordering = ValueOrder.at(0, valueType)
  private val cursor = values.newCursor()
  private val row = new GenericInternalRow(1)

  /** Twice the place of a value and one, or twice the place where it would stand. */
  override def number(keys: InternalRow, column: Int): Long = {
    val number = prefix.of(keys, column)
    val low = firstAtLeast(number)
    if (!isAt(low, number)) 2L * low
    else {
      row.update(0, read(keys, column))
      among(low, if (isAt(low + 1, number)) firstAbove(number) else low + 1)
    }
  }

  private def isAt(place: Int, number: Long): Boolean =
    place < prefixes.length && prefixes(place) == number

  /** The same of the value in `row` among the values from one place to another. */
  private def among(from: Int, until: Int): Long = {
    var low = from
    var high = until
    while (low < high) {
      val middle = (low + high) >>> 1
      val order = ordering.compare(cursor.at(middle), row)
      if (order == 0) return 2L * middle + 1
      if (order < 0) low = middle + 1 else high = middle
    }
    2L * low
  }

  override def ofFirst(first: Long, isAbove: Boolean): Long = {
    val fields = prefix.asInstanceOf[FieldsPrefix]
    var low = firstAtLeast(fields.belowFirst(first))
    var high = firstAtLeast(fields.aboveFirst(first))
    while (low < high) {
      val middle = (low + high) >>> 1
      val of = fields.first(cursor.at(middle), 0)
      if (of < first || isAbove && of == first) low = middle + 1 else high = middle
    }
    2L * low
  }

  private def firstAbove(number: Long) =
    if (number == Long.MaxValue) prefixes.length else firstAtLeast(number + 1)

  private def firstAtLeast(number: Long) = directory.firstAtLeast(prefixes, number)
}
