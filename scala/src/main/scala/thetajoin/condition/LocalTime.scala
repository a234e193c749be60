package thetajoin.condition

import java.time.zone.ZoneOffsetTransition

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * The local time of a zone whose clocks change. Where they are set back, a later instant has an earlier local time.
 * Instants and local times are in microseconds.
 *
 * {{{
 *   New York, 2024-11-03    instant (UTC)  05:50  06:00  06:10  06:59  07:00
 *                           local          01:50  01:00  01:10  01:59  02:00
 *                           latest         01:50  02:00  02:00  02:00  02:00
 * }}}
 */
final case class LocalTime(zone: String) {
  import LocalTime._

  @transient private lazy val rules = DateTimeUtils.getZoneId(zone).getRules

  def of(instant: Long): Long =
    instant + rules.getOffset(
      DateTimeUtils.microsToInstant(instant)
    ).getTotalSeconds * MicrosOfSecond

  /** No instant up to this one has a later local time. */
  def latest(instant: Long): Long = {
    var most = of(instant)
    var change = rules.previousTransition(DateTimeUtils.microsToInstant(instant).plusNanos(1))
    while (change != null && at(change) > instant - Farthest) {
      most = math.max(most, at(change) + change.getOffsetBefore.getTotalSeconds * MicrosOfSecond)
      change = rules.previousTransition(change.getInstant)
    }
    most
  }

  /** No instant from this one on has an earlier local time. */
  def earliest(instant: Long): Long = {
    var least = of(instant)
    var change = rules.nextTransition(DateTimeUtils.microsToInstant(instant))
    while (change != null && at(change) < instant + Farthest) {
      least = math.min(least, at(change) + change.getOffsetAfter.getTotalSeconds * MicrosOfSecond)
      change = rules.nextTransition(change.getInstant)
    }
    least
  }

  /**
   * Another instant is in the order of local times with this one if their local times are farther apart than this
   * number.
   */
  def doubt(instant: Long): Long = {
    val local = of(instant)
    math.max(latest(instant) - local, local - earliest(instant))
  }
}

object LocalTime {

  /** None if the clocks of a zone never change. */
  def of(zone: String): Option[LocalTime] =
    if (DateTimeUtils.getZoneId(zone).getRules.isFixedOffset) None else Some(LocalTime(zone))

  private val MicrosOfSecond = 1000000L

  /** More than two offsets can differ by. */
  private val Farthest = 2 * 86400 * MicrosOfSecond

  private def at(change: ZoneOffsetTransition): Long = change.toEpochSecond * MicrosOfSecond
}

/** A limit that [[LocalTime]] gives for an instant, as a number. Only used as an index key. */
final case class LocalLimit(child: Expression, time: LocalTime, kind: LocalLimit.Kind)
    extends UnaryExpression {
  override def dataType: DataType = LongType
  override def nullIntolerant: Boolean = true
  override def toString: String = s"${kind.method}($child, ${time.zone})"

  override protected def nullSafeEval(instant: Any): Any = kind.of(time, instant.asInstanceOf[Long])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val zone = ctx.addReferenceObj("localTime", time)
    defineCodeGen(ctx, ev, instant => s"$zone.${kind.method}($instant)")
  }

  override protected def withNewChildInternal(newChild: Expression): LocalLimit = copy(newChild)
}

object LocalLimit {

  /** @param method the name of `of` among the methods of [[LocalTime]] */
  sealed abstract class Kind(val method: String, val of: (LocalTime, Long) => Long)
      extends Serializable
  case object Latest extends Kind("latest", _.latest(_))
  case object Earliest extends Kind("earliest", _.earliest(_))
  case object Doubt extends Kind("doubt", _.doubt(_))
}
