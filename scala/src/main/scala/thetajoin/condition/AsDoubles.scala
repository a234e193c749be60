package thetajoin.condition

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DecimalType, DoubleType}

/**
 * A comparison of decimals as one of floating-point numbers that it implies. A quotient of decimals is rounded to a
 * number of digits behind the point, so the comparison allows for one of the last digit.
 */
private[condition] object AsDoubles {
  def of(
      l: Expression,
      operator: Operator,
      r: Expression,
      sides: Sides
  ): Option[(Expression, Expression)] =
    if (!Seq(l, r).forall(_.dataType.isInstanceOf[DecimalType])) None
    else {
      val slack = Seq(l, r).map(rounding).sum
      for (x <- number(l, sides); y <- number(r, sides) if !slack.isInfinite)
        yield if (operator.isBelow) (x, plus(y, slack)) else (x, plus(y, -slack))
    }

  private def plus(number: Expression, slack: Double): Expression = number match {
    case _ if slack == 0.0 => number
    case Literal(value: Double, DoubleType) => Literal(value + slack)
    case other => new Add(other, Literal(slack))
  }

  private def number(e: Expression, sides: Sides): Option[Expression] = e match {
    case _ if e.foldable => NumberForms.decimal(e).map(Literal(_))
    case _ if sides.ofOne(e) => Some(Cast(e, DoubleType))
    case Cast(child, to: DecimalType, _, _) if Safety.widens(child.dataType, to) =>
      number(child, sides)
    case _: Divide | _: Abs | _: UnaryMinus => ofParts(e, sides)
    case _: Add | _: Subtract | _: Multiply if isExact(e) => ofParts(e, sides)
    case _ => None
  }

  /** With fewer digits than the most that there are, no result is rounded. */
  private def isExact(e: Expression): Boolean = e.dataType match {
    case d: DecimalType => d.precision < DecimalType.MAX_PRECISION
    case _ => false
  }

  private def ofParts(e: Expression, sides: Sides): Option[Expression] = {
    val parts = e.children.map(number(_, sides))
    if (parts.forall(_.nonEmpty)) Some(e.withNewChildren(parts.flatten)) else None
  }

  /** The most that quotients are rounded by, if they are no factors. */
  private def rounding(e: Expression): Double = e match {
    case quotient: Divide => lastDigit(quotient) + e.children.map(inFactor).sum
    case _: Multiply => e.children.map(inFactor).sum
    case _: Add | _: Subtract | _: Abs | _: UnaryMinus | _: Cast => e.children.map(rounding).sum
    case _ => 0.0
  }

  private def inFactor(e: Expression): Double =
    if (e.exists(_.isInstanceOf[Divide])) Double.PositiveInfinity else 0.0

  private def lastDigit(quotient: Divide): Double = quotient.dataType match {
    case d: DecimalType => math.pow(10, -d.scale.toDouble)
    case _ => 0.0
  }
}
