package thetajoin.condition

import java.util.regex.Pattern

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Which expressions can't raise an error, whatever the row. A key or a one-sided conjunct is evaluated for rows that
 * a nested loop might never reach, so only these may be evaluated without a net. It is a list of expressions that are
 * known to be safe: everything else counts as failing.
 */
object Safety {

  /** The well-known binary of Spark's own types. */
  private val AsBinary = Set("stGeomAsBinary", "stGeogAsBinary")

  def cannotFail(e: Expression): Boolean = safeNode(e) && e.children.forall(cannotFail)

  private def safeNode(e: Expression): Boolean = e match {
    case _: Attribute | _: BoundReference | _: Literal | _: Alias => true
    case _: And | _: Or | _: Not | _: IsNull | _: IsNotNull | _: IsNaN => true
    case _: BinaryComparison | _: In | _: InSet => true
    case _: Coalesce | _: If | _: CaseWhen | _: NaNvl => true
    case _: Greatest | _: Least => true
    case _: GetStructField | _: CreateNamedStruct | _: OrderedLong | _: PackedLong => true
    case _: BitwiseNot | _: BitwiseAnd | _: BitwiseOr | _: BitwiseXor => true
    case c: Cast =>
      widens(c.child.dataType, c.dataType) || rounds(c.child.dataType, c.dataType)
    case Add(l, _, _) => isFractional(l.dataType)
    case Subtract(l, _, _) => isFractional(l.dataType)
    case Multiply(l, _, _) => isFractional(l.dataType)
    case Abs(child, _) => isFractional(child.dataType)
    case _: Sqrt | _: OutwardSum | _: NeverFails => true
    case sum: BoundedSum => !sum.fails
    case _: DateAdd | _: DateSub | _: Year | _: Month | _: DayOfMonth | _: DayOfWeek => true
    case _: UnixDate | _: UnixMicros => true
    case i: StaticInvoke => AsBinary.contains(i.functionName)
    case _: Length | _: Upper | _: Lower | _: Substring | _: StringTrim => true
    case _: StartsWith | _: EndsWith | _: Contains => true
    case _: StringInstr | _: StringLocate | _: CollationKey => true
    case c: Concat => c.children.forall(_.dataType.isInstanceOf[StringType])
    case _: CreateArray | _: MapKeys | _: MapValues | _: Size | _: ArrayContains => true
    case _: ArraysOverlap | _: ArrayIntersect | _: ArrayExcept | _: ArrayDistinct => true
    case StringSplit(_, Literal(pattern: UTF8String, _), _: Literal) =>
      Try(Pattern.compile(pattern.toString)).isSuccess
    case _ => false
  }

  /**
   * Whether arithmetic of whole numbers fails where its result has no place. Where it wraps around, far values pass
   * as near ones.
   */
  def neverWraps(e: Expression): Boolean = e.children.head.dataType match {
    case t @ (ByteType | ShortType | IntegerType | LongType) =>
      val extremes = e match {
        case _: Subtract => Seq(least(t), Literal(1))
        case _ => e.children.map(_ => least(t))
      }
      val operands = extremes.map(value => Literal(Cast(value, t).eval(), t))
      Try(e.withNewChildren(operands).eval()).isFailure
    case _ => true
  }

  /** A floating-point number, or a whole one. */
  def isNumber(t: DataType): Boolean = t match {
    case DoubleType | FloatType | ByteType | ShortType | IntegerType | LongType => true
    case _ => false
  }

  /** Whether arithmetic of such numbers rounds or fails, and never wraps around. */
  def isMeasured(e: Expression): Boolean = isNumber(e.dataType) && neverWraps(e)

  private def least(t: DataType): Literal = t match {
    case ByteType => Literal(Byte.MinValue)
    case ShortType => Literal(Short.MinValue)
    case IntegerType => Literal(Int.MinValue)
    case _ => Literal(Long.MinValue)
  }

  private[condition] def isFractional(t: DataType): Boolean = t == DoubleType || t == FloatType

  private def rounds(from: DataType, to: DataType): Boolean = (from, to) match {
    case (ArrayType(f, _), ArrayType(t, _)) => rounds(f, t)
    case _ => isFractional(from) && isFractional(to)
  }

  /** Casts whose result every value has: numbers to wider numbers, and a type to itself. */
  def widens(from: DataType, to: DataType): Boolean = (from, to) match {
    case (f, t) if f == t => true
    case (_: NumericType, _: NumericType) => Cast.canUpCast(from, to)
    case (_: NumericType | BooleanType | DateType, StringType) => true
    case (ArrayType(f, _), ArrayType(t, _)) => widens(f, t)
    case _ => false
  }
}
