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
 * @param dropped see [[ValuePrefix.of]]
 * @param prefixes in ascending order, equal where values are not told apart by them
 */
final class DistinctValues private (
    valueType: KeyTypes,
    dropped: Int,
    prefixes: Array[Long],
    directory: Directory,
    values: RowPages
) extends Serializable {
  def bytes: Long = 8L * prefixes.length + directory.bytes + values.bytes

  def newFinder(): ValueFinder =
    new ValueFinder(valueType.all.head, dropped, prefixes, directory, values)
}

private object DistinctValues {
  def apply(values: Seq[Any], t: DataType, dropped: Int): DistinctValues = {
    val prefix = ValuePrefix.of(t, dropped)
    val prefixes = values.iterator.map(prefix.of).toArray
    val pages = RowPages.of(values.iterator.map(InternalRow(_)), Seq(t))
    new DistinctValues(KeyTypes(Seq(t)), dropped, prefixes, Directory(prefixes), pages)
  }
}

/** Looks values up, for one task. */
final class ValueFinder(
    valueType: DataType,
    dropped: Int,
    prefixes: Array[Long],
    directory: Directory,
    values: RowPages
) {
  private val prefix = ValuePrefix.of(valueType, dropped)
  private val read = InternalRow.getAccessor(valueType, nullable = false)
  private val ordering = ValueOrder.at(0, valueType)
  private val cursor = values.newCursor()
  private val row = new GenericInternalRow(1)

  /** Twice the place of a value and one, or twice the place where it would stand. */
  def rank(keys: InternalRow, column: Int): Long = {
    val value = read(keys, column)
    val number = prefix.of(value)
    val low = directory.firstAtLeast(prefixes, number)
    if (!isAt(low, number)) 2L * low
    else {
      row.update(0, value)
      rank(low, if (isAt(low + 1, number)) firstAbove(number) else low + 1)
    }
  }

  private def isAt(place: Int, number: Long): Boolean =
    place < prefixes.length && prefixes(place) == number

  /** The same of the value in `row` among the values from one place to another. */
  private def rank(from: Int, until: Int): Long = {
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

  /** The rank below or above all structs whose first field has this number. */
  def ofFirst(number: Long, isAbove: Boolean): Long =
    2L * (if (isAbove) firstAbove(number) else directory.firstAtLeast(prefixes, number))

  private def firstAbove(number: Long): Int =
    if (number == Long.MaxValue) prefixes.length
    else directory.firstAtLeast(prefixes, number + 1)
}

/** A number of 64 bits for a value: a lesser value has none that is greater. */
private[kit] abstract class ValuePrefix {
  def of(value: Any): Long
}

private[kit] object ValuePrefix {

  /** How many low bits of decimals do without, so that the highest bits that some of these values have fit a number. */
  def dropped(values: Iterator[Any], t: DataType): Int = t match {
    case _: DecimalType =>
      val bits = values.map(value => unscaled(value).bitLength).maxOption.getOrElse(0)
      math.max(0, bits - java.lang.Long.SIZE + 1)
    case _ => 0
  }

  private def unscaled(value: Any) = value.asInstanceOf[Decimal].toJavaBigDecimal.unscaledValue

  /** @param dropped how many low bits of a decimal are left out. One that does not fit even so is an infinity */
  def of(t: DataType, dropped: Int): ValuePrefix = t match {
    case s: StringType if s.collationId == StringType.collationId =>
      value => value.asInstanceOf[UTF8String].getPrefix ^ Long.MinValue
    case BinaryType => value => ByteArray.getPrefix(value.asInstanceOf[Array[Byte]]) ^ Long.MinValue
    case _: DecimalType =>
      value => {
        val number = unscaled(value)
        if (number.bitLength - dropped < java.lang.Long.SIZE) number.shiftRight(dropped).longValue
        else if (number.signum < 0) Long.MinValue
        else Long.MaxValue
      }
    case StructType(Array(first, _*)) if OrderedLong.orders(first.dataType) =>
      val number = OrderedLong(BoundReference(0, first.dataType, nullable = true))
      value =>
        Option(
          number.eval(value.asInstanceOf[InternalRow])
        ).fold(Long.MinValue)(_.asInstanceOf[Long])
    case _ => _ => 0L
  }
}
