package thetajoin.functions.network

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  GenericInternalRow,
  ImplicitCastInputTypes,
  UnaryExpression
}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import thetajoin.condition.NeverFails

/** A text that is no address, or no network. */
final class InvalidAddressException(function: String, asked: String, text: UTF8String)
    extends IllegalArgumentException(
      s"[INVALID_ADDRESS] $function needs $asked, but the text is '$text'. Correct the value, or use " +
        s"try_$function, which is NULL for it."
    )

/** The address of a text, or an end of its network. */
sealed abstract class AddressPart(val name: String) {
  protected def isRead(read: AddressText): Boolean
  protected def halves(read: AddressText): (Long, Long)
  def asked: String

  /** A struct of two numbers, in the order of addresses; null if the text can't be read. */
  final def of(text: UTF8String): InternalRow = {
    val read = new AddressText(text)
    if (!isRead(read)) null
    else {
      val (high, low) = halves(read)
      new GenericInternalRow(Array[Any](high ^ Long.MinValue, low ^ Long.MinValue))
    }
  }

  final def orFail(text: UTF8String): InternalRow = {
    val row = of(text)
    if (row == null) throw new InvalidAddressException("cidr_contains", asked, text)
    row
  }
}

object AddressPart {
  case object Address extends AddressPart("ip") {
    override def asked: String = "an address of IPv4 or IPv6"
    override protected def isRead(read: AddressText): Boolean = read.isAddress
    override protected def halves(read: AddressText): (Long, Long) = (read.high, read.low)
  }

  sealed abstract class OfNetwork(name: String) extends AddressPart(name) {
    override def asked: String = "a network such as 198.51.100.0/24 or 2001:db8::/32"
    override protected def isRead(read: AddressText): Boolean = read.isNetwork
  }

  case object First extends OfNetwork("first_ip") {
    override protected def halves(read: AddressText): (Long, Long) =
      (read.high & ~rest(read.prefix), read.low & ~rest(read.prefix - 64))
  }

  case object Last extends OfNetwork("last_ip") {
    override protected def halves(read: AddressText): (Long, Long) =
      (read.high | rest(read.prefix), read.low | rest(read.prefix - 64))
  }

  /** The bits behind so many. */
  private def rest(bits: Int): Long = if (bits <= 0) -1L else if (bits >= 64) 0L else -1L >>> bits
}

sealed abstract class OfAddress extends UnaryExpression with ImplicitCastInputTypes {
  override def inputTypes: Seq[DataType] = Seq(StringType)
  override def nullable: Boolean = true
  override def nullIntolerant: Boolean = true

  /** Gives null for a text that can't be read, unless it fails. */
  protected def method: String
  protected def of: AnyRef

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val parser = ctx.addReferenceObj("of", of, of.getClass.getName)
    val boxed = ctx.freshName("boxed")
    val javaType = if (dataType == LongType) "Long" else "InternalRow"
    nullSafeCodeGen(
      ctx,
      ev,
      text =>
        s"""
           |final $javaType $boxed = $parser.$method($text);
           |if ($boxed == null) ${ev.isNull} = true; else ${ev.value} = $boxed;""".stripMargin
    )
  }
}

sealed abstract class OfPart extends OfAddress {
  def part: AddressPart
  override protected def of: AnyRef = part
  override def toString: String = s"${part.name}($child)"
  override def dataType: DataType = StructType(Seq(
    StructField("high", LongType, nullable = false),
    StructField("low", LongType, nullable = false)
  ))
}

/** A part of a text's address or network. A text that can't be read is an error. */
final case class AddressOf(child: Expression, part: AddressPart) extends OfPart {
  override protected def method: String = "orFail"
  override protected def nullSafeEval(text: Any): Any = part.orFail(text.asInstanceOf[UTF8String])
  override protected def withNewChildInternal(newChild: Expression): AddressOf = copy(newChild)
}

/** The same; a text that can't be read is null. */
final case class TryAddressOf(child: Expression, part: AddressPart) extends OfPart
    with NeverFails {
  override protected def method: String = "of"
  override protected def nullSafeEval(text: Any): Any = part.of(text.asInstanceOf[UTF8String])
  override protected def withNewChildInternal(newChild: Expression): TryAddressOf = copy(newChild)
}

/** An address of IPv4 as a number. */
final case class AddressNumber(child: Expression) extends OfAddress {
  override def dataType: DataType = LongType
  override def prettyName: String = "ip_to_number"
  override protected def method: String = "orFail"
  override protected def of: AnyRef = AddressNumber
  override protected def nullSafeEval(text: Any): Any =
    AddressNumber.orFail(text.asInstanceOf[UTF8String])
  override protected def withNewChildInternal(newChild: Expression): AddressNumber = copy(newChild)
}

/** The same; a text that can't be read is null. */
final case class TryAddressNumber(child: Expression) extends OfAddress with NeverFails {
  override def dataType: DataType = LongType
  override def prettyName: String = "try_ip_to_number"
  override protected def method: String = "of"
  override protected def of: AnyRef = AddressNumber
  override protected def nullSafeEval(text: Any): Any =
    AddressNumber.of(text.asInstanceOf[UTF8String])
  override protected def withNewChildInternal(newChild: Expression): TryAddressNumber =
    copy(newChild)
}

object AddressNumber extends (Expression => AddressNumber) with Serializable {
  override def apply(child: Expression): AddressNumber = new AddressNumber(child)

  /** Null for an address of IPv6, or a text that can't be read. */
  def of(text: UTF8String): java.lang.Long = {
    val read = new AddressText(text)
    if (read.isAddress && read.high == 0L && read.low >>> 32 == 0xffffL) read.low & 0xffffffffL
    else null
  }

  def orFail(text: UTF8String): java.lang.Long = {
    val number = of(text)
    if (number == null)
      throw new InvalidAddressException("ip_to_number", "an address of IPv4", text)
    number
  }
}
