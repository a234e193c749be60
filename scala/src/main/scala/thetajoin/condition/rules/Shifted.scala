package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DoubleType

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
        moved(most, by, isUp = true).map(LessThanOrEqual(value, _))
      case (least, Moved(value, by)) =>
        moved(least, by, isUp = false).map(GreaterThanOrEqual(value, _))
      case _ => None
    }

  /** `end - by`, moved outward by more than arithmetic rounds. */
  private def moved(end: Expression, by: Double, isUp: Boolean): Option[Literal] =
    NumberForms.Constant.unapply(end).map { number =>
      val slack = (math.abs(number) + math.abs(by)) * Rounding
      Literal(number - by + (if (isUp) slack else -slack))
    }

  private val Rounding = 1e-9

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
      // A sum of decimals is rounded.
      case quotient: Divide if quotient.dataType == DoubleType => Some(quotient)
      case NumberForms.Widened(child) => unapply(child)
      case _ => None
    }
  }
}
