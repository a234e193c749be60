package thetajoin.accelerator.nearest

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._

import thetajoin.condition.{BoundedSum, Operator, OrderedBy, OrderedLong, Safety}
import thetajoin.kit.Bound

/**
 * How far two values are apart, one of each side, as rows are ranked by it:
 *
 * {{{
 *   abs(a.t - b.t), also of dates and timestamps          - abs(a.t - b.t), descending
 *   if(a.t > b.t, a.t - b.t, b.t - a.t)                    what Spark makes of an ASOF join in both directions
 * }}}
 *
 * @param localTime set if timestamps are apart as their local times in a zone are, which a change of its clocks may put in another order
 */
private[nearest] final case class ValueDistance(
    build: Expression,
    probe: Expression,
    localTime: Option[LocalTime]
) {
  def isFloating: Boolean = build.dataType == DoubleType || build.dataType == FloatType

  /** A value of either side as a number in the order of the values. */
  def number(value: Expression): Expression =
    OrderedLong.of(localTime.fold(value)(time => Cast(value, TimestampNTZType, Some(time.zone))))

  /** Whether this is a bound of the build value. */
  def isOf(bound: Bound): Boolean = bound.build.semanticEquals(OrderedLong.of(build))

  /** Up to where it reaches among such numbers. */
  def reach(bound: Bound): Expression = localTime match {
    case None => bound.probe
    case Some(time) =>
      val terms = Seq(number(bound.probe.children.head), Literal(time.shift))
      BoundedSum(terms, Seq(false, bound.isLower), LocalTime.Latest)
  }

  /** Whether a row that is within the bound passes its condition. */
  def isExact(bound: Bound): Boolean = bound.exact && localTime.isEmpty
}

/** @param shift microseconds by which the zone's offsets differ at most */
private[nearest] final case class LocalTime(zone: String, shift: Long)

private[nearest] object LocalTime {

  /** Far beyond all timestamps, in microseconds. */
  val Latest: Long = 1L << 60

  /** None if a zone's clocks never change. */
  def of(zone: String): Option[LocalTime] = {
    val rules = DateTimeUtils.getZoneId(zone).getRules
    if (rules.isFixedOffset) None
    else {
      val changes =
        rules.getTransitions.asScala.flatMap(t => Seq(t.getOffsetBefore, t.getOffsetAfter))
      val yearly =
        rules.getTransitionRules.asScala.flatMap(r => Seq(r.getOffsetBefore, r.getOffsetAfter))
      val seconds = (changes ++ yearly).map(_.getTotalSeconds.toLong)
      Some(LocalTime(zone, (seconds.max - seconds.min) * MicrosOfSecond))
    }
  }

  private val MicrosOfSecond = 1000000L
}

private[nearest] object ValueDistance {

  /** If the rank is one, and the nearest come first. */
  def of(rank: SortOrder, build: AttributeSet, probe: AttributeSet): Option[ValueDistance] = {
    def isOf(e: Expression, side: AttributeSet) =
      e.references.nonEmpty && e.references.subsetOf(side)
    val (distance, isAscending) = unsigned(rank.child, rank.isAscending)
    val values = if (isAscending) difference(distance) else None
    values.filter(_.areNumbers).collect {
      case v if isOf(v.left, build) && isOf(v.right, probe) =>
        ValueDistance(v.left, v.right, v.localTime)
      case v if isOf(v.right, build) && isOf(v.left, probe) =>
        ValueDistance(v.right, v.left, v.localTime)
    }
  }

  private final case class Difference(
      left: Expression,
      right: Expression,
      localTime: Option[LocalTime] = None
  ) {
    def areNumbers: Boolean =
      Bound.areNumbers(left, right) && Seq(left, right).forall(Safety.cannotFail)
    def isTurned(other: Difference): Boolean =
      left.semanticEquals(other.right) && right.semanticEquals(other.left)
    def isOf(l: Expression, r: Expression): Boolean =
      left.semanticEquals(l) && right.semanticEquals(r)
  }

  private def unsigned(e: Expression, isAscending: Boolean): (Expression, Boolean) = e match {
    case UnaryMinus(child, _) => unsigned(child, !isAscending)
    case other => (other, isAscending)
  }

  private def difference(e: Expression): Option[Difference] = e match {
    case abs @ Abs(child, _) if Safety.neverWraps(abs) => minus(child)
    case If(OrderedBy(l, operator, r), first, second) =>
      for {
        a <- minus(first)
        b <- minus(second)
        (larger, smaller) = operator match {
          case Operator.Greater | Operator.GreaterOrEqual => (l, r)
          case Operator.Less | Operator.LessOrEqual => (r, l)
        }
        if a.isTurned(b) && a.isOf(larger, smaller)
      } yield a
    case _ => None
  }

  private def minus(e: Expression): Option[Difference] = e match {
    case s @ Subtract(l, r, _) if Safety.neverWraps(s) => Some(Difference(l, r))
    case DateDiff(end, start) => Some(Difference(end, start))
    case s: SubtractDates if s.dataType.isInstanceOf[DayTimeIntervalType] =>
      Some(Difference(s.left, s.right))
    case s: SubtractTimestamps if s.dataType.isInstanceOf[DayTimeIntervalType] =>
      val zone = if (s.left.dataType == TimestampType) s.timeZoneId else None
      Some(Difference(s.left, s.right, zone.flatMap(LocalTime.of)))
    case _ => None
  }
}
