package thetajoin.functions.network

import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodeGenerator,
  CodegenContext,
  ExprCode
}
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

/** What a function reads from the text of an address or of a network. */
sealed abstract class AddressPart(
    val name: String,
    val function: String,
    val asked: String,
    val dataType: DataType
) extends Serializable {
  protected def read(text: AddressText): Option[Any]

  /** Null if the text can't be read. */
  final def of(text: UTF8String): Any = read(new AddressText(text)).orNull

  final def orFail(text: UTF8String): Any = {
    val value = of(text)
    if (value == null) throw new InvalidAddressException(function, asked, text)
    value
  }
}

object AddressPart {

  /** An address of IPv4 as a number. */
  case object Number
      extends AddressPart("ip_to_number", "ip_to_number", "an address of IPv4", LongType) {
    override protected def read(text: AddressText): Option[Any] =
      Option.when(text.isAddress && text.high == 0L && text.low >>> 32 == 0xffffL)(
        text.low & 0xffffffffL
      )
  }

  case object Address extends OfOrder("ip", "an address of IPv4 or IPv6") {
    override protected def read(text: AddressText): Option[Any] =
      Option.when(text.isAddress)(ordered(text.high, text.low))
  }

  case object First extends OfOrder("first_ip", Network) {
    override protected def read(text: AddressText): Option[Any] = Option.when(text.isNetwork)(
      ordered(text.high & ~rest(text.prefix), text.low & ~rest(text.prefix - 64))
    )
  }

  case object Last extends OfOrder("last_ip", Network) {
    override protected def read(text: AddressText): Option[Any] = Option.when(text.isNetwork)(
      ordered(text.high | rest(text.prefix), text.low | rest(text.prefix - 64))
    )
  }

  /** A struct of two numbers, in the order of addresses. */
  sealed abstract class OfOrder(name: String, asked: String)
      extends AddressPart(name, "cidr_contains", asked, Halves) {
    protected final def ordered(high: Long, low: Long): Any =
      new GenericInternalRow(Array[Any](high ^ Long.MinValue, low ^ Long.MinValue))
  }

  private final val Network = "a network such as 198.51.100.0/24 or 2001:db8::/32"

  private def Halves = StructType(Seq(
    StructField("high", LongType, nullable = false),
    StructField("low", LongType, nullable = false)
  ))

  /** The bits behind so many. */
  private def rest(bits: Int): Long = if (bits <= 0) -1L else if (bits >= 64) 0L else -1L >>> bits
}

/** An [[AddressPart]] of a text. */
sealed abstract class OfAddress extends UnaryExpression with ImplicitCastInputTypes {
  def part: AddressPart

  /** Of the part: it gives null for a text that can't be read, or it fails. */
  protected def method: String

  override def inputTypes: Seq[DataType] = Seq(StringType)
  override def dataType: DataType = part.dataType
  override def nullable: Boolean = true
  override def nullIntolerant: Boolean = true
  override def toString: String = s"${part.name}($child)"

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val reader = ctx.addReferenceObj("part", part, classOf[AddressPart].getName)
    val boxed = ctx.freshName("boxed")
    nullSafeCodeGen(
      ctx,
      ev,
      text =>
        s"""
           |final Object $boxed = $reader.$method($text);
           |if ($boxed == null) ${ev.isNull} = true;
           |else ${ev.value} = (${CodeGenerator.boxedType(dataType)}) $boxed;""".stripMargin
    )
  }
}

/** A text that can't be read is an error. */
final case class AddressOf(child: Expression, part: AddressPart) extends OfAddress {
  override protected def method: String = "orFail"
  override def prettyName: String = part.function
  override protected def nullSafeEval(text: Any): Any = part.orFail(text.asInstanceOf[UTF8String])
  override protected def withNewChildInternal(newChild: Expression): AddressOf = copy(newChild)
}

/** A text that can't be read is null. */
final case class TryAddressOf(child: Expression, part: AddressPart) extends OfAddress
    with NeverFails {
  override protected def method: String = "of"
  override def prettyName: String = s"try_${part.function}"
  override protected def nullSafeEval(text: Any): Any = part.of(text.asInstanceOf[UTF8String])
  override protected def withNewChildInternal(newChild: Expression): TryAddressOf = copy(newChild)
}
