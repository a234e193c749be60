package thetajoin.kit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, GenericInternalRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{ByteArray, UTF8String}

import thetajoin.condition.OrderedLong
import thetajoin.rowstore.RowPages

/**
 * Distinct values of an ordered type in ascending order. Numbers of 64 bits that stand for them, the first bytes of a
 * string for instance, leave few of them to compare.
 *
 * @param prefixes in ascending order, equal where values are not told apart by them
 */
final class DistinctValues private (
    valueType: KeyTypes,
    prefixes: Array[Long],
    directory: Directory,
    values: RowPages
) extends Serializable {
  def bytes: Long = 8L * prefixes.length + directory.bytes + values.bytes

  def newFinder(): ValueFinder = new ValueFinder(valueType.all.head, prefixes, directory, values)
}

private object DistinctValues {
  def apply(values: Seq[Any], t: DataType): DistinctValues = {
    val prefix = ValuePrefix.of(t)
    val prefixes = values.iterator.map(prefix).toArray
    val pages = RowPages.of(values.iterator.map(InternalRow(_)), Seq(t))
    new DistinctValues(KeyTypes(Seq(t)), prefixes, Directory(prefixes), pages)
  }
}

/** Looks values up, for one task. */
final class ValueFinder(
    valueType: DataType,
    prefixes: Array[Long],
    directory: Directory,
    values: RowPages
) {
  private val prefix = ValuePrefix.of(valueType)
  private val ordering = ValueOrder.at(0, valueType)
  private val cursor = values.newCursor()
  private val row = new GenericInternalRow(1)

  /** Twice the place of a value and one, or twice the place where it would stand. */
  def rank(keys: InternalRow, column: Int): Long = {
    val value = keys.get(column, valueType)
    val number = prefix(value)
    row.update(0, value)
    var low = directory.firstAtLeast(prefixes, number)
    val end = firstAbove(number)
    var high = end
    while (low < high) {
      val middle = (low + high) >>> 1
      if (ordering.compare(cursor.at(middle), row) < 0) low = middle + 1 else high = middle
    }
    val isFound = low < end && ordering.compare(cursor.at(low), row) == 0
    if (isFound) 2L * low + 1 else 2L * low
  }

  /** The rank below or above all structs whose first field has this number. */
  def ofFirst(number: Long, isAbove: Boolean): Long =
    2L * (if (isAbove) firstAbove(number) else directory.firstAtLeast(prefixes, number))

  private def firstAbove(number: Long): Int =
    if (number == Long.MaxValue) prefixes.length
    else directory.firstAtLeast(prefixes, number + 1)
}

/** A number of 64 bits for a value: a lesser value has none that is greater. */
private[kit] object ValuePrefix {
  def of(t: DataType): Any => Long = t match {
    case s: StringType if s.collationId == StringType.collationId =>
      value => value.asInstanceOf[UTF8String].getPrefix ^ Long.MinValue
    case BinaryType => value => ByteArray.getPrefix(value.asInstanceOf[Array[Byte]]) ^ Long.MinValue
    case d: DecimalType =>
      // Ten is less than 2 to the power of 3.33.
      val dropped = math.max(0, math.ceil(d.precision * 3.33).toInt - java.lang.Long.SIZE + 1)
      value =>
        value.asInstanceOf[Decimal].toJavaBigDecimal.unscaledValue.shiftRight(dropped).longValue
    case StructType(Array(first, _*)) if OrderedLong.orders(first.dataType) =>
      val number = OrderedLong(BoundReference(0, first.dataType, nullable = true))
      value =>
        Option(
          number.eval(value.asInstanceOf[InternalRow])
        ).fold(Long.MinValue)(_.asInstanceOf[Long])
    case _ => _ => 0L
  }
}
