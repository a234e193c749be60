package thetajoin.condition

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/**
 * How far the rows of a pair are apart in the plane or in space, as their pairs are ranked by it:
 *
 * {{{
 *   st_distance(a.shape, b.shape)
 *   sqrt((a.x - b.x) * (a.x - b.x) + pow(a.y - b.y, 2)), hypot(a.x - b.x, a.y - b.y)
 *   the same sum without its root                                                          squared
 *   greatest(b.s - a.e, a.s - b.e, 0)                                                      the gap between intervals
 *   CASE WHEN b.s > a.e THEN b.s - a.e WHEN a.s > b.e THEN a.s - b.e ELSE 0 END            the same
 *   6371 * acos(..), 12742 * asin(sqrt(..))                                                an [[Arc]] of a sphere
 * }}}
 *
 * @param spans by dimension, of both sides: the left one's first
 * @param unit the distance is not more than the rank times this
 * @param rounding by how much the distance may be more than that, in parts of the coordinates
 */
final case class PlaneDistance(
    spans: Seq[(Span, Span)],
    isSquared: Boolean,
    unit: Double = 1.0,
    rounding: Double = 0.0
)

object PlaneDistance {
  import Safety.{isMeasured, isNumber}

  def of(rank: Expression, sides: Sides): Option[PlaneDistance] = {
    val found = rank match {
      case distance: Distance => Some(PlaneDistance(distance.spans, isSquared = false))
      case Arc(arc) => arc.points.map(onSphere(arc, _)).find(isSplit(_, sides))
      case Hypot(x, y) =>
        for (a <- span(x); b <- span(y)) yield PlaneDistance(Seq(a, b), isSquared = false)
      case Sqrt(sum) => squares(sum).map(PlaneDistance(_, isSquared = false))
      case Gap(one, other) => Some(PlaneDistance(Seq((one, other)), isSquared = false))
      case sum => squares(sum).map(PlaneDistance(_, isSquared = true))
    }
    found.flatMap { distance =>
      val ofLeftFirst = distance.spans.flatMap { case (l, r) =>
        if (isOf(l, sides.ofLeft) && isOf(r, sides.ofRight)) Some((l, r))
        else if (isOf(l, sides.ofRight) && isOf(r, sides.ofLeft)) Some((r, l))
        else None
      }
      if (ofLeftFirst.size == distance.spans.size) Some(distance.copy(spans = ofLeftFirst))
      else None
    }
  }

  private def onSphere(arc: Arc, points: (Place, Place)): PlaneDistance = {
    val (from, to) = points
    PlaneDistance(
      from.spans.zip(to.spans),
      isSquared = false,
      unit = 1 / arc.radius,
      // A point of the sphere has a coordinate of more than 0.5.
      rounding = 2 * Arc.Slack
    )
  }

  private def isSplit(distance: PlaneDistance, sides: Sides): Boolean =
    distance.spans.forall { case (l, r) =>
      Seq(l, r).forall(span => sides.ofOne(span.low)) && sides.split(l.low, r.low)
    }

  private def isOf(span: Span, side: Expression => Boolean): Boolean =
    side(span.low) && side(span.high) && Seq(span.low, span.high).forall(Safety.cannotFail)

  private def squares(e: Expression): Option[Seq[(Span, Span)]] = e match {
    case Add(l, r, _) if isMeasured(e) => for (x <- squares(l); y <- squares(r)) yield x ++ y
    case Multiply(x, y, _) if isMeasured(e) && x == y => span(x).map(Seq(_))
    case Pow(x, exponent)
        if exponent.foldable && Try(exponent.eval()).toOption.contains(2.0) =>
      span(x).map(Seq(_))
    case Cast(child, DoubleType, _, _) if isNumber(child.dataType) => squares(child)
    case _ => None
  }

  private def span(difference: Expression): Option[(Span, Span)] = difference match {
    case Subtract(l, r, _) if isMeasured(difference) => Some((point(l), point(r)))
    case Cast(child, DoubleType, _, _) if isNumber(child.dataType) => span(child)
    case _ => None
  }

  private def point(value: Expression): Span = {
    val number = NumberForms.asDouble(value)
    Span(number, number)
  }
}

/** The gap between two intervals. It is zero, or below that, if they overlap. */
private object Gap {
  import NumberForms.Constant

  def unapply(rank: Expression): Option[(Span, Span)] = rank match {
    case Greatest(values) => between(values.filterNot(_.foldable))
    case CaseWhen(branches, Some(Constant(0.0))) if branches.forall(isDifference) =>
      between(branches.map(_._2))
    case _ => None
  }

  private def isDifference(branch: (Expression, Expression)): Boolean = branch match {
    case (OrderedBy(l, operator, r), Subtract(x, y, _)) =>
      val (upper, lower) = if (operator.isBelow) (r, l) else (l, r)
      upper.semanticEquals(x) && lower.semanticEquals(y)
    case _ => false
  }

  private def between(differences: Seq[Expression]): Option[(Span, Span)] = differences match {
    case Seq(first @ Subtract(start, end, _), second @ Subtract(otherStart, otherEnd, _))
        if Safety.isMeasured(first) && Safety.isMeasured(second) =>
      Some((span(start, otherEnd), span(otherStart, end)))
    case _ => None
  }

  /** An end that is null gives no gap. */
  private def span(start: Expression, end: Expression): Span = {
    def or(value: Expression, infinity: Double) =
      Coalesce(Seq(NumberForms.asDouble(value), Literal(infinity)))
    Span(or(start, Double.NegativeInfinity), or(end, Double.PositiveInfinity))
  }
}
