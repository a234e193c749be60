package thetajoin.kit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.ByteArray

/** Numbers of 64 bits for values of a type. A lesser value has no greater number. */
private[kit] abstract class ValuePrefix extends Serializable {

  /** The number of the value in a column of a row. */
  def of(row: InternalRow, column: Int): Long

  /** Whether these are the numbers that [[OrderedNumbers]] has for the values that they were made for. */
  def isExact: Boolean = false
}

private[kit] object NoPrefix extends ValuePrefix {
  override def of(row: InternalRow, column: Int): Long = 0L
}

private[kit] object TextPrefix extends ValuePrefix {
  override def of(row: InternalRow, column: Int): Long =
    row.getUTF8String(column).getPrefix ^ Long.MinValue
}

private[kit] object BytesPrefix extends ValuePrefix {
  override def of(row: InternalRow, column: Int): Long =
    ByteArray.getPrefix(row.getBinary(column)) ^ Long.MinValue
}

/**
 * The highest bits of decimals.
 *
 * @param dropped how many low bits are left out. A decimal that does not fit even so is an infinity
 * @param isExact whether these bits are zero in all values that the numbers are made for, and they all fit
 */
private[kit] final case class DecimalPrefix(
    precision: Int,
    scale: Int,
    dropped: Int,
    override val isExact: Boolean
) extends ValuePrefix {

  override def of(row: InternalRow, column: Int): Long = row match {
    // It has the bytes of the unscaled value of a long decimal, and makes three objects of them.
    case unsafe: UnsafeRow if precision > Decimal.MAX_LONG_DIGITS => of(unsafe.getBinary(column))
    case _ => of(DecimalPrefix.unscaled(row.getDecimal(column, precision, scale)).toByteArray)
  }

  private def of(bytes: Array[Byte]): Long = {
    var high = if (bytes(0) < 0) -1L else 0L
    var low = high
    var i = 0
    while (i < bytes.length) {
      high = high << java.lang.Byte.SIZE | low >>> (java.lang.Long.SIZE - java.lang.Byte.SIZE)
      low = low << java.lang.Byte.SIZE | bytes(i) & 0xff
      i += 1
    }
    if (dropped == 0) of(high, low, isBetween = false)
    else {
      val rest = java.lang.Long.SIZE - dropped
      of(high >> dropped, high << rest | low >>> dropped, isBetween = low << rest != 0)
    }
  }

  /** @param isBetween whether it is above the number of 128 bits, and below the next one */
  private def of(high: Long, low: Long, isBetween: Boolean): Long =
    if (high != low >> (java.lang.Long.SIZE - 1) || low >> DecimalPrefix.Bits != high)
      if (high < 0) Long.MinValue else Long.MaxValue
    else 2 * low + (if (isBetween) 2 else 1)
}

private[kit] object DecimalPrefix {

  /** Of a number without its sign. Twice as much is less than an infinity. */
  private val Bits = 61

  def made(t: DecimalType, rows: Iterator[InternalRow], column: Int): DecimalPrefix = {
    var (bits, zeros) = (0, Int.MaxValue)
    for (row <- rows) {
      val number = unscaled(row.getDecimal(column, t.precision, t.scale))
      bits = math.max(bits, number.bitLength)
      if (number.signum != 0) zeros = math.min(zeros, number.getLowestSetBit)
    }
    val dropped = math.min(math.max(0, bits - Bits), java.lang.Long.SIZE - 1)
    DecimalPrefix(t.precision, t.scale, dropped, bits - dropped <= Bits && zeros >= dropped)
  }

  private def unscaled(value: Decimal) = value.toJavaBigDecimal.unscaledValue
}
