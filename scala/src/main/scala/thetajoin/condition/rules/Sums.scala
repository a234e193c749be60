package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DoubleType, FloatType}

import thetajoin.condition.Safety

object Sums extends ValueRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "least(a.hi, b.hi) - greatest(a.lo, b.lo) > 1",
      "(a.hi IS NULL OR b.lo IS NULL OR a.hi - b.lo > 1) AND " +
        "(b.hi IS NULL OR a.lo IS NULL OR b.hi - a.lo > 1)"
    )
  )
  override val proof: String =
    "A sum, a difference of numbers or times and a cast to a wider number keep the order of their operands."

  override def bounds(
      e: Expression,
      end: End,
      of: (Expression, End) => Seq[Bounding]
  ): Option[Seq[Bounding]] = {
    def ofBoth(l: Expression, r: Expression, ofRight: End) =
      for (x <- of(l, end); y <- of(r, ofRight)) yield {
        val unless = if (ofRight == end) Nil else notANumber(r, ofRight)
        Bounding(e.withNewChildren(Seq(x.value, y.value)), x.unless ++ y.unless ++ unless)
      }
    def ofOne(child: Expression, ofChild: End) = of(child, ofChild).map { x =>
      val unless = if (ofChild == end) Nil else notANumber(child, ofChild)
      Bounding(e.withNewChildren(Seq(x.value)), x.unless ++ unless)
    }
    // Its negative is as great as it is.
    def notANumber(operand: Expression, ofOperand: End): Seq[Expression] = operand.dataType match {
      case DoubleType | FloatType =>
        of(operand, ofOperand).map(_.value).filterNot(_ == operand).map(IsNaN(_))
      case _ => Nil
    }
    e match {
      case Add(l, r, _) if Safety.isMeasured(e) => Some(ofBoth(l, r, end))
      case Subtract(l, r, _) if Safety.isMeasured(e) => Some(ofBoth(l, r, end.opposite))
      case DateDiff(l, r) => Some(ofBoth(l, r, end.opposite))
      case s: SubtractTimestamps => Some(ofBoth(s.left, s.right, end.opposite))
      case UnaryMinus(child, _) if Safety.isMeasured(e) => Some(ofOne(child, end.opposite))
      case UnaryPositive(child) => Some(ofOne(child, end))
      case c: Cast
          if Safety.isNumber(c.child.dataType) && Safety.isNumber(c.dataType) &&
            Safety.widens(c.child.dataType, c.dataType) =>
        Some(ofOne(c.child, end))
      case _ => None
    }
  }
}
