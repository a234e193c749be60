package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DecimalType, DoubleType, FloatType}

import thetajoin.condition.{NumberForms, Operator, Safety}

object Magnitude extends ComparisonRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "abs(timestampdiff(MINUTE, a.ts, b.ts)) <= 2",
      "timestampdiff(MINUTE, a.ts, b.ts) >= -2 AND timestampdiff(MINUTE, a.ts, b.ts) <= 2"
    ),
    Reading(
      "pow(greatest(a.lo - b.hi, 0, b.lo - a.hi), 2) + pow(a.x - b.x, 2) <= 4",
      "greatest(a.lo - b.hi, 0, b.lo - a.hi) <= 2 AND abs(a.x - b.x) <= 2"
    )
  )
  override val proof: String =
    "A value is between the bound of its magnitude and the negative of it, and so is each part of a sum of squares."

  override def implied(l: Expression, operator: Operator, r: Expression): Option[Expression] =
    (l, r) match {
      case (Abs(value, _), most) if needsRule(value, most) =>
        Some(And(operator.of(value, most), operator.flipped.of(value, UnaryMinus(most))))
      case (NumberForms.Widened(value: Abs), most) => implied(value, operator, most)
      case (Sqrt(square), NumberForms.Constant(most)) if most >= 0 && square.exists(isExtreme) =>
        Some(LessThanOrEqual(square, Literal(most * most * (1 + Rounding))))
      case (sum, NumberForms.Constant(most)) if most >= 0 && sum.exists(isExtreme) =>
        val root = Literal(math.sqrt(most) * (1 + Rounding))
        squares(sum).map(
          _.flatMap(x => Seq(LessThanOrEqual(x, root), GreaterThanOrEqual(x, UnaryMinus(root))))
            .reduce[Expression](And(_, _))
        )
      case _ => None
    }

  /** Arithmetic of a few steps rounds by far less. */
  private val Rounding = 1e-9

  /**
   * Whether this is more than a sum, whose magnitude needs no rule. A bound that is not a number would let all values
   * pass, and the least whole number has no magnitude.
   */
  private def needsRule(value: Expression, most: Expression): Boolean = value.dataType match {
    case DoubleType | FloatType => NumberForms.Constant.unapply(most).nonEmpty && isMore(value)
    case _: DecimalType => !Safety.isFractional(most.dataType) && isMore(value)
    case _ => !Safety.isFractional(most.dataType) && isNotLeast(value)
  }

  private def isNotLeast(value: Expression): Boolean = value match {
    case NumberForms.Widened(child) => isNotLeast(child)
    case IntegralDivide(whole, NumberForms.Constant(divisor), _) =>
      divisor >= 2 && !whole.dataType.isInstanceOf[DecimalType]
    case difference: TimestampDiff => !difference.unit.equalsIgnoreCase("MICROSECOND")
    case _ => false
  }

  private def isMore(value: Expression): Boolean = value match {
    case Subtract(l, r, _) => l.foldable && isMore(r) || r.foldable && isMore(l)
    case Add(l, r, _) => l.foldable && isMore(r) || r.foldable && isMore(l)
    case c: Cast => isMore(c.child)
    case UnaryMinus(child, _) => isMore(child)
    case _: Round | _: BRound | _: Divide => true
    case other => isExtreme(other)
  }

  private def isExtreme(e: Expression): Boolean = e.isInstanceOf[Greatest] || e.isInstanceOf[Least]

  /** The bases of a sum of squares. */
  private def squares(sum: Expression): Option[Seq[Expression]] = sum match {
    case Add(l, r, _) if Safety.isMeasured(sum) =>
      for (x <- squares(l); y <- squares(r)) yield x ++ y
    case Pow(x, NumberForms.Constant(2.0)) => Some(Seq(x))
    case Multiply(x, y, _) if Safety.isMeasured(sum) && x.semanticEquals(y) => Some(Seq(x))
    case _ => None
  }
}
