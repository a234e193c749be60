package thetajoin.condition

import scala.annotation.tailrec
import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/** Forms of numbers whose bounds follow from the bounds of a part. */
private[thetajoin] object NumberForms {
  import Safety.{isMeasured, isNumber}

  /** Products with other factors may lose all their digits. */
  val LeastWeight = 1e-10
  val GreatestWeight = 1e10

  def isPrecise(weight: Double): Boolean =
    math.abs(weight) >= LeastWeight && math.abs(weight) <= GreatestWeight

  def asDouble(number: Expression): Expression =
    if (number.dataType == DoubleType) number else Cast(number, DoubleType)

  /** A number that is cast to one of at least its range. */
  object Widened {
    def unapply(cast: Cast): Option[Expression] =
      if (
        isNumber(cast.child.dataType) && isNumber(cast.dataType) &&
        Safety.widens(cast.child.dataType, cast.dataType)
      ) Some(cast.child)
      else None
  }

  /** A quotient of decimals is rounded at its sixth digit or later: it is no farther from the true one than this. */
  val RoundedQuotient = 1e-6

  /** The whole number under casts to types of its range or more. */
  @tailrec def plain(e: Expression): Expression = e match {
    case Cast(number, to: NumericType, _, _)
        if isWhole(number.dataType) && Safety.widens(number.dataType, to) => plain(number)
    case other => other
  }

  private def isWhole(t: DataType): Boolean = t == IntegerType || t == LongType

  /** A product of a number and a constant. With the digits of 32 bits it is too far from the true one. */
  object Times {
    def unapply(e: Expression): Option[(Double, Expression)] = e match {
      case product: Multiply if product.dataType == FloatType => None
      case Multiply(Constant(weight), x, _) => Some((weight, x))
      case Multiply(x, Constant(weight), _) => Some((weight, x))
      case _ => None
    }
  }

  /** A product with a constant, or a quotient by one. */
  object Weighted {
    def unapply(product: BinaryArithmetic): Option[(Double, Expression)] = {
      val parts = product match {
        case Multiply(Constant(weight), x, _) => Some((weight, x))
        case Multiply(x, Constant(weight), _) => Some((weight, x))
        case Divide(x, Constant(divisor), _) => Some((1 / divisor, x))
        case _ => None
      }
      parts.filter { case (weight, _) => isPrecise(weight) && isMeasured(product) }
    }
  }

  object Constant {
    def unapply(e: Expression): Option[Double] =
      if (e.foldable && isNumber(e.dataType))
        Try(e.eval()).toOption.collect { case n: Number => n.doubleValue }.filter(_.isFinite)
      else decimal(e)
  }

  /** Whether it is made of whole numbers and decimals in a way that always gives a number. */
  def isNeverNaN(e: Expression): Boolean = e match {
    case c: Cast => isNumber(c.child.dataType) && isNeverNaN(c.child)
    case Divide(value, Constant(divisor), _) => divisor != 0 && isNeverNaN(value)
    case _: Add | _: Subtract | _: Multiply | _: UnaryMinus => e.children.forall(isNeverNaN)
    case other => !Safety.isFractional(other.dataType)
  }

  /** A decimal without columns. */
  def decimal(e: Expression): Option[Double] = e.dataType match {
    case _: DecimalType if e.foldable =>
      Try(e.eval()).toOption.collect { case d: Decimal => d.toDouble }
    case _ => None
  }
}
