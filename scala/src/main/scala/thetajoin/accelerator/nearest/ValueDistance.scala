package thetajoin.accelerator.nearest

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import thetajoin.condition.{LocalLimit, LocalTime, Operator, OrderedBy, OrderedLong, Safety}
import thetajoin.contract.JoinRequest
import thetajoin.kit.Bound

/**
 * How far two values are apart, one of each side, as rows are ranked by it:
 *
 * {{{
 *   abs(a.t - b.t), also of dates and timestamps          - abs(a.t - b.t), descending
 *   if(a.t > b.t, a.t - b.t, b.t - a.t)                    what Spark makes of an ASOF join in both directions
 *   a.t - b.t next to a.t >= b.t                           and in one
 * }}}
 *
 * The index knows how far the numbers of the values are apart. That is the rank, but for two cases:
 *
 *   - Timestamps are apart as their local times are. Where clocks are set back, the later of two may have the earlier
 *     local time, and a difference that has a sign is then below zero.
 *   - The difference of whole numbers may wrap around.
 *
 * @param localTime set if the clocks of the zone change
 * @param isSigned whether a rank may be below zero where they are set back
 * @param wraps the greatest difference if greater ones wrap around
 * @param nullsFirst whether the distance from a value that is null comes ahead of all others
 */
private[nearest] final case class ValueDistance(
    build: Expression,
    probe: Expression,
    localTime: Option[LocalTime],
    isSigned: Boolean,
    wraps: Option[Long],
    nullsFirst: Boolean
) {
  def isFloating: Boolean = build.dataType == DoubleType || build.dataType == FloatType

  /** Whether the numbers' distance is the rank of every pair. */
  def isRank: Boolean = doubt.isEmpty && wraps.isEmpty && !nullsFirst

  /** A value of either side as a number in the order of the values. */
  def number(value: Expression): Expression = {
    val number =
      OrderedLong.of(localTime.fold(value)(time => Cast(value, TimestampNTZType, Some(time.zone))))
    if (nullsFirst) Coalesce(Seq(number, Literal(Long.MinValue))) else number
  }

  /** Of a probe row: up to which distance of the numbers the rank may be another. */
  def doubt: Option[Expression] =
    localTime.filter(_ => isSigned).map(LocalLimit(probe, _, LocalLimit.Doubt))

  /** Whether this is a bound of the build value. */
  def isOf(bound: Bound): Boolean = bound.build.semanticEquals(OrderedLong.of(build))

  /** Up to where it reaches among such numbers. */
  def reach(bound: Bound): Expression = localTime.fold(bound.probe) { time =>
    val limit = if (bound.isLower) LocalLimit.Earliest else LocalLimit.Latest
    LocalLimit(bound.probe.children.head, time, limit)
  }

  /** Whether a row that is within the bound passes its condition. */
  def isExact(bound: Bound): Boolean = bound.exact && localTime.isEmpty
}

private[nearest] object ValueDistance {

  /** If the rank is one, and the nearest come first. */
  def of(rank: SortOrder, request: JoinRequest): Option[ValueDistance] = {
    val (build, probe) = (AttributeSet(request.build), AttributeSet(request.probe))
    def isOf(e: Expression, side: AttributeSet) =
      e.references.nonEmpty && e.references.subsetOf(side)
    val (ranked, nullsFirst) = rank.child match {
      case Coalesce(Seq(OrderedLong(value), Literal(Long.MinValue, LongType)))
          if rank.isAscending =>
        (value, true)
      case value => (value, false)
    }
    val (distance, isAscending) = unsigned(ranked, rank.isAscending)
    val values = if (isAscending) difference(distance, request) else None
    values.filter(_.areNumbers).collect {
      case v if isOf(v.left, build) && isOf(v.right, probe) => v.from(v.left, v.right, nullsFirst)
      case v if isOf(v.right, build) && isOf(v.left, probe) => v.from(v.right, v.left, nullsFirst)
    }
  }

  private final case class Difference(
      left: Expression,
      right: Expression,
      localTime: Option[LocalTime] = None,
      wraps: Option[Long] = None,
      isSigned: Boolean = true
  ) {
    def areNumbers: Boolean =
      Bound.areNumbers(left, right) && Seq(left, right).forall(Safety.cannotFail)
    def isTurned(other: Difference): Boolean =
      left.semanticEquals(other.right) && right.semanticEquals(other.left)
    def isOf(l: Expression, r: Expression): Boolean =
      left.semanticEquals(l) && right.semanticEquals(r)
    def from(build: Expression, probe: Expression, nullsFirst: Boolean): ValueDistance =
      ValueDistance(build, probe, localTime, isSigned, wraps, nullsFirst)
  }

  private def unsigned(e: Expression, isAscending: Boolean): (Expression, Boolean) = e match {
    case UnaryMinus(child, _) => unsigned(child, !isAscending)
    case other => (other, isAscending)
  }

  private def difference(e: Expression, request: JoinRequest): Option[Difference] = e match {
    case abs @ Abs(child, _) =>
      minus(child).map(d => d.copy(wraps = d.wraps.orElse(greatest(abs)), isSigned = false))
    case If(OrderedBy(l, operator, r), first, second) =>
      for {
        a <- minus(first)
        b <- minus(second)
        if a.isTurned(b) && isFrom(a, l, operator, r)
      } yield a
    case other => minus(other).filter { d =>
        request.shape.conjuncts.map(_.source).exists {
          case OrderedBy(l, operator, r) => isFrom(d, l, operator, r)
          case _ => false
        }
      }
  }

  /** Whether a comparison says that the value on the left of a difference is the greater one. */
  private def isFrom(d: Difference, l: Expression, operator: Operator, r: Expression): Boolean =
    operator match {
      case Operator.Greater | Operator.GreaterOrEqual => d.isOf(l, r)
      case Operator.Less | Operator.LessOrEqual => d.isOf(r, l)
    }

  private def minus(e: Expression): Option[Difference] = e match {
    case s @ Subtract(l, r, _) => Some(Difference(l, r, wraps = greatest(s)))
    case DateDiff(end, start) => Some(Difference(end, start))
    case s: SubtractDates if s.dataType.isInstanceOf[DayTimeIntervalType] =>
      Some(Difference(s.left, s.right))
    case s: SubtractTimestamps if s.dataType.isInstanceOf[DayTimeIntervalType] =>
      val zone = if (s.left.dataType == TimestampType) s.timeZoneId else None
      Some(Difference(s.left, s.right, zone.flatMap(LocalTime.of)))
    case _ => None
  }

  /** The greatest result of arithmetic that wraps around. */
  private def greatest(e: Expression): Option[Long] = e.dataType match {
    case _ if Safety.neverWraps(e) => None
    case ByteType => Some(Byte.MaxValue.toLong)
    case ShortType => Some(Short.MaxValue.toLong)
    case IntegerType => Some(Int.MaxValue.toLong)
    case _ => Some(Long.MaxValue)
  }
}
