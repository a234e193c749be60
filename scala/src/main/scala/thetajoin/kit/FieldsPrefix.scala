package thetajoin.kit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import thetajoin.condition.OrderedLong

/**
 * The first fields of structs, as far as they are numbers and fit. The first of them has the highest bits.
 *
 * @param types of the fields of a struct
 * @param codes one for each field in the number
 */
private[kit] final case class FieldsPrefix(types: KeyTypes, codes: Array[FieldCode])
    extends ValuePrefix {
  @transient private lazy val width = types.all.size
  @transient private lazy val read = types.all.take(codes.length).map(OrderedLong.reader).toArray

  override def isExact: Boolean = codes.length == types.all.size && codes.forall(_.dropped == 0)

  override def of(row: InternalRow, column: Int): Long = {
    val struct = row.getStruct(column, width)
    var number = 0L
    var i = 0
    while (i < codes.length) {
      val code =
        if (struct.isNullAt(i)) FieldCode.OfNull else codes(i).of(read(i).at(struct, i))
      number = number << codes(i).bits | code
      i += 1
    }
    2 * number + 1
  }

  /** Below the numbers of structs with this number as their first field. */
  def belowFirst(first: Long): Long = codes.head.of(first) << rest

  /** Above the numbers of structs with this number as their first field. */
  def aboveFirst(first: Long): Long = (codes.head.of(first) + 1) << rest

  private def rest = codes.iterator.drop(1).map(_.bits).sum + 1

  /** The first field of the struct in a column, which is not null. */
  def first(row: InternalRow, column: Int): Long = read(0).at(row.getStruct(column, width), 0)
}

private[kit] object FieldsPrefix {

  /** Of a code. Twice as much has a sign. */
  private val Bits = 62

  /** A field of fewer bits tells nothing. */
  private val FewestBits = 3

  def made(t: StructType, rows: Iterator[InternalRow], column: Int): FieldsPrefix = {
    val types = t.fields.map(_.dataType)
    val numbers = types.takeWhile(OrderedLong.orders)
    val least = Array.fill(numbers.length)(Long.MaxValue)
    val greatest = Array.fill(numbers.length)(Long.MinValue)
    val read = numbers.map(OrderedLong.reader)
    for (row <- rows) {
      val struct = row.getStruct(column, types.length)
      for (i <- numbers.indices if !struct.isNullAt(i)) {
        val number = read(i).at(struct, i)
        least(i) = math.min(least(i), number)
        greatest(i) = math.max(greatest(i), number)
      }
    }
    FieldsPrefix(KeyTypes(types.toSeq), fitted(least, greatest))
  }

  /** The codes up to the first one that does not fit whole. */
  private def fitted(least: Array[Long], greatest: Array[Long]): Array[FieldCode] = {
    var left = Bits
    var isWhole = true
    val codes = Array.newBuilder[FieldCode]
    for (i <- least.indices if isWhole && left >= FewestBits) {
      val code = FieldCode.made(least(i), greatest(i), left)
      codes += code
      left -= code.bits
      isWhole = code.dropped == 0
    }
    codes.result()
  }
}

/**
 * The numbers of a field between two of them. A null, a lesser number and a greater one have codes of their own.
 *
 * @param least greater than `greatest` if no number is in between
 * @param dropped how many low bits of the distance from the least number are left out
 * @param bits of a code
 */
private[kit] final case class FieldCode(least: Long, greatest: Long, dropped: Int, bits: Int) {
  import FieldCode._

  def of(number: Long): Long =
    if (number < least) OfLess
    else if (number > greatest) OfLeast + ((greatest - least) >>> dropped) + 1
    else OfLeast + ((number - least) >>> dropped)
}

private[kit] object FieldCode {
  val OfNull = 0L
  private val OfLess = 1L
  private val OfLeast = 2L

  /** @param most how many bits there are. The number above the last code fits too: see [[FieldsPrefix.aboveFirst]] */
  def made(least: Long, greatest: Long, most: Int): FieldCode = {
    // A distance of two numbers is an unsigned number.
    val distance = greatest - least
    val room = (1L << most) - 1 - OfLeast - 2
    val dropped = Iterator.from(0)
      .find(n => java.lang.Long.compareUnsigned(distance >>> n, room) <= 0).get
    val above = OfLeast + (distance >>> dropped) + 2
    val bits = java.lang.Long.SIZE - java.lang.Long.numberOfLeadingZeros(above)
    FieldCode(least, greatest, dropped, bits)
  }
}
