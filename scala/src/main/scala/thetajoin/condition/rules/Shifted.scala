package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{Decimal, DecimalType}

import thetajoin.condition.{NumberForms, Operator}

object Shifted extends ComparisonRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "abs(a.hi / b.hi - 1) <= 0.5",
      "a.hi / b.hi BETWEEN 0.5 AND 1.5"
    )
  )
  override val proof: String = "A number can be subtracted from both sides of a comparison."

  override def implied(l: Expression, operator: Operator, r: Expression): Option[Expression] =
    (l, r) match {
      case (Moved(value, by), most) =>
        literal(value, most, by, isUp = true).map(LessThanOrEqual(value, _))
      case (least, Moved(value, by)) =>
        literal(value, least, by, isUp = false).map(GreaterThanOrEqual(value, _))
      case _ => None
    }

  /** `end - by`, moved outward by more than arithmetic rounds. */
  private def literal(
      like: Expression,
      end: Expression,
      by: Double,
      isUp: Boolean
  ): Option[Literal] = end match {
    case NumberForms.Constant(number) =>
      val slack = (math.abs(number) + math.abs(by)) * Rounding
      val moved = number - by + (if (isUp) slack else -slack)
      like.dataType match {
        case _: DecimalType => Some(Literal(Decimal(BigDecimal(moved).round(Digits))))
        case _ => Some(Literal(moved))
      }
    case _ => None
  }

  private val Rounding = 1e-9
  private val Digits = new java.math.MathContext(18)

  /** A quotient and the number that is added to it. */
  private object Moved {
    def unapply(e: Expression): Option[(Expression, Double)] = e match {
      case Subtract(Quotient(q), NumberForms.Constant(by), _) => Some((q, -by))
      case Add(Quotient(q), NumberForms.Constant(by), _) => Some((q, by))
      case Add(NumberForms.Constant(by), Quotient(q), _) => Some((q, by))
      case NumberForms.Widened(child) => unapply(child)
      case _ => None
    }
  }

  private object Quotient {
    def unapply(e: Expression): Option[Divide] = e match {
      case quotient: Divide => Some(quotient)
      case NumberForms.Widened(child) => unapply(child)
      case _ => None
    }
  }
}
