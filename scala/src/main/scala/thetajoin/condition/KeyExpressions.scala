package thetajoin.condition

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  Cast,
  Expression,
  SpecializedGetters,
  UnaryExpression
}
import org.apache.spark.sql.types._

/** The code of an expression that is null if one of its terms is. */
private[condition] object TermsCode {

  /**
   * Evaluates one term after the other, up to one that is null, and does with its place and its value what `use`
   * says. Declares and sets `isNull` of the result.
   */
  def apply(ctx: CodegenContext, ev: ExprCode, terms: Seq[Expression])(
      use: (Int, String) => String
  ): String = {
    val steps = terms.zipWithIndex.map { case (term, i) =>
      val t = term.genCode(ctx)
      s"""
         |if (!${ev.isNull}) {
         |  ${t.code}
         |  if (${t.isNull}) {
         |    ${ev.isNull} = true;
         |  } else {
         |    ${use(i, t.value.toString)}
         |  }
         |}""".stripMargin
    }
    (s"boolean ${ev.isNull} = false;" +: steps).mkString("\n")
  }
}

/**
 * A value of an ordered type as a 64-bit whole number in the same order, equal exactly where Spark's
 * comparison is: NaN is above all and equals itself, -0.0 equals 0.0. Decimals must have the same scale on both
 * sides of the comparison, as Spark's analyzer makes sure.
 */
final case class OrderedLong(child: Expression) extends UnaryExpression {
  override def dataType: DataType = LongType
  override def toString: String = child.toString
  override def sql: String = child.sql
  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(value: Any): Any = (value: @unchecked) match {
    case b: Boolean => if (b) 1L else 0L
    case d: Double => OrderedLong.ofDouble(d)
    case f: Float => OrderedLong.ofDouble(f.toDouble)
    case d: Decimal => d.toUnscaledLong
    case n: Number => n.longValue
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val companion = s"${OrderedLong.getClass.getName}.MODULE$$"
    defineCodeGen(
      ctx,
      ev,
      value =>
        CodeGenerator.javaType(child.dataType) match {
          case "boolean" => s"($value ? 1L : 0L)"
          case "double" | "float" => s"$companion.ofDouble((double) $value)"
          case "Decimal" => s"$value.toUnscaledLong()"
          case _ => s"(long) $value"
        }
    )
  }

  override protected def withNewChildInternal(newChild: Expression): OrderedLong = copy(newChild)
}

object OrderedLong {

  /** Whether values of the type are held in 64 bits that order them. */
  def orders(t: DataType): Boolean = t match {
    case d: DecimalType => d.precision <= Decimal.MAX_LONG_DIGITS
    case BooleanType => true
    case _: UserDefinedType[_] => false
    case _ => CodeGenerator.isPrimitiveType(t)
  }

  /** Reads such a value from a row, as its number. */
  trait Reader {
    def at(row: SpecializedGetters, place: Int): Long
  }

  def reader(t: DataType): Reader = (t, CodeGenerator.javaType(t)) match {
    case (d: DecimalType, _) => _.getDecimal(_, d.precision, d.scale).toUnscaledLong
    case (_, "boolean") => (row, i) => if (row.getBoolean(i)) 1L else 0L
    case (_, "byte") => _.getByte(_).toLong
    case (_, "short") => _.getShort(_).toLong
    case (_, "int") => _.getInt(_).toLong
    case (_, "long") => _.getLong(_)
    case (_, "float") => (row, i) => ofDouble(row.getFloat(i).toDouble)
    case (_, "double") => (row, i) => ofDouble(row.getDouble(i))
    case _ => throw new IllegalArgumentException(s"not held in 64 bits: $t")
  }

  /** The number of a value, or of a narrower one that was cast to it and has the same number. */
  def of(value: Expression): OrderedLong = value match {
    case cast: Cast if isSameNumber(cast.child.dataType, cast.dataType) => of(cast.child)
    case ordered: OrderedLong => ordered
    case other => OrderedLong(other)
  }

  private def isSameNumber(from: DataType, to: DataType): Boolean = (from, to) match {
    case (narrow: DecimalType, wide: DecimalType) =>
      narrow.scale == wide.scale && narrow.precision <= wide.precision
    case (FloatType, DoubleType) => true
    case _ => WholeNumbers.contains(from) && WholeNumbers.indexOf(to) >= WholeNumbers.indexOf(from)
  }

  /** From the narrowest to the widest. */
  private val WholeNumbers: Seq[DataType] = Seq(ByteType, ShortType, IntegerType, LongType)

  def ofDouble(d: Double): Long = {
    val bits = java.lang.Double.doubleToLongBits(if (d == 0.0d) 0.0d else d)
    bits ^ ((bits >> 63) & Long.MaxValue)
  }

  /** The number that [[ofDouble]] was given. */
  def toDouble(ordered: Long): Double =
    java.lang.Double.longBitsToDouble(ordered ^ ((ordered >> 63) & Long.MaxValue))
}

/**
 * Several values in one 64-bit number, which are equal if and only if the numbers are. Null if one of them is.
 *
 * @param bits the width of each, 64 in all at most
 */
final case class PackedLong(children: Seq[Expression], bits: Seq[Int]) extends Expression {
  override def dataType: DataType = LongType
  override def nullable: Boolean = children.exists(_.nullable)
  override def toString: String = children.mkString("(", ", ", ")")
  override def foldable: Boolean = false

  override def eval(input: InternalRow): Any = {
    var packed = 0L
    var i = 0
    while (i < children.size) {
      val value = children(i).eval(input)
      if (value == null) return null
      packed = PackedLong.append(packed, value.asInstanceOf[Long], bits(i))
      i += 1
    }
    packed
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val append = s"${PackedLong.getClass.getName}.MODULE$$.append"
    val steps = TermsCode(ctx, ev, children) { (i, term) =>
      s"${ev.value} = $append(${ev.value}, $term, ${bits(i)});"
    }
    ev.copy(code = code"""
      long ${ev.value} = 0L;
      $steps""")
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): PackedLong =
    copy(children = newChildren)
}

object PackedLong {

  /** One 64-bit key in place of several keys, if they fit. */
  def of(keys: Seq[Expression]): Option[Expression] = {
    val widths = keys.map(key => width(key.dataType))
    if (keys.isEmpty || widths.exists(_.isEmpty)) None
    else if (keys.size == 1) Some(OrderedLong(keys.head))
    else {
      val bits = widths.flatten
      if (bits.sum <= java.lang.Long.SIZE) Some(PackedLong(keys.map(OrderedLong(_)), bits))
      else None
    }
  }

  def append(packed: Long, value: Long, bits: Int): Long =
    (packed << bits) | (value & ((1L << bits) - 1))

  /** How many of the lowest bits of an [[OrderedLong]] tell values of a type apart. */
  private def width(t: DataType): Option[Int] = t match {
    case _ if !OrderedLong.orders(t) => None
    case DoubleType | FloatType | _: DecimalType => Some(java.lang.Long.SIZE)
    case BooleanType => Some(1)
    case _ => Some(t.defaultSize * java.lang.Byte.SIZE)
  }
}
