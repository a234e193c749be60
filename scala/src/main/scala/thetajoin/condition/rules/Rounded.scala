package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{Decimal, DecimalType, DoubleType, FloatType}

import thetajoin.condition.{NumberForms, Operator}

object Rounded extends ComparisonRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "round(a.lo - b.lo, 1) BETWEEN 0 AND 1",
      "a.lo - b.lo BETWEEN -0.1 AND 1.1"
    ),
    Reading(
      "floor((unix_timestamp(a.ts) - unix_timestamp(b.ts)) / 60) BETWEEN 0 AND 2",
      "(unix_timestamp(a.ts) - unix_timestamp(b.ts)) / 60 BETWEEN -1 AND 3"
    ),
    Reading(
      "datediff(a.ts, b.ts) DIV 7 = 0",
      "datediff(a.ts, b.ts) >= -7 AND datediff(a.ts, b.ts) <= 7"
    )
  )
  override val proof: String =
    "A rounded number is less than a unit of its last place away from the number, and a quotient less than a divisor."

  override def implied(l: Expression, operator: Operator, r: Expression): Option[Expression] =
    (l, r) match {
      case (Whole(value, unit), Number(most)) =>
        literal(value, (most + 1) * unit).map(LessThanOrEqual(value, _))
      case (Number(least), Whole(value, unit)) =>
        literal(value, (least - 1) * unit).map(GreaterThanOrEqual(value, _))
      case (InPlaces(value, unit), Number(most)) =>
        literal(value, most + unit).map(LessThanOrEqual(value, _))
      case (Number(least), InPlaces(value, unit)) =>
        literal(value, least - unit).map(GreaterThanOrEqual(value, _))
      case _ => None
    }

  private def literal(like: Expression, number: BigDecimal): Option[Literal] =
    like.dataType match {
      case DoubleType | FloatType => Some(Literal(number.toDouble))
      case _ if number.precision > DecimalType.MAX_PRECISION => None
      case _: DecimalType => Some(Literal(Decimal(number)))
      case _ => if (number.isValidLong) Some(Literal(number.toLong)) else None
    }

  /** The whole units of a value, and the unit. */
  private object Whole {
    def unapply(e: Expression): Option[(Expression, BigDecimal)] = e match {
      // The quotient of long decimals wraps around.
      case IntegralDivide(value, Number(divisor), _)
          if divisor > 0 && divisor.isWhole && !value.dataType.isInstanceOf[DecimalType] =>
        Some((value, divisor))
      // NaN is zero as a whole number.
      case Floor(value) if NumberForms.isNeverNaN(value) => Some((value, BigDecimal(1)))
      case Ceil(value) if NumberForms.isNeverNaN(value) => Some((value, BigDecimal(1)))
      case NumberForms.Widened(child) => unapply(child)
      case _ => None
    }
  }

  /** A value that is rounded to a number of places, and the unit of the last one. */
  private object InPlaces {
    def unapply(e: Expression): Option[(Expression, BigDecimal)] = e match {
      case Round(value, Places(unit), _) if isFractional(value) => Some((value, unit))
      case BRound(value, Places(unit), _) if isFractional(value) => Some((value, unit))
      case NumberForms.Widened(child) => unapply(child)
      case _ => None
    }
  }

  private def isFractional(e: Expression): Boolean = e.dataType match {
    case DoubleType | FloatType | _: DecimalType => true
    case _ => false
  }

  private object Places {
    def unapply(e: Expression): Option[BigDecimal] = e match {
      case Literal(places: Int, _) if math.abs(places) <= MostPlaces =>
        Some(BigDecimal(10).pow(-places))
      case _ => None
    }
  }

  private object Number {
    def unapply(e: Expression): Option[BigDecimal] =
      NumberForms.Constant.unapply(e).filter(n => math.abs(n) < MostNumber).map(_ =>
        e.eval() match {
          case decimal: Decimal => decimal.toBigDecimal
          case number: java.lang.Long => BigDecimal(number)
          case number => BigDecimal(number.asInstanceOf[java.lang.Number].doubleValue)
        }
      )
  }

  private val MostPlaces = 12
  private val MostNumber = 1e15
}
