package thetajoin.condition.rules

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import thetajoin.condition.{Operator, Safety}

object Units extends ComparisonRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "timestampdiff(MINUTE, b.ts, a.ts) BETWEEN 0 AND 3",
      "a.ts - b.ts > INTERVAL '-1' MINUTE AND a.ts - b.ts < INTERVAL '4' MINUTE"
    ),
    Reading(
      "a.ts >= b.ts AND timestampdiff(MINUTE, b.ts, a.ts) < b.id",
      "a.ts >= b.ts AND unix_micros(a.ts) <= unix_micros(b.ts) + (b.id + 1) * 60000000"
    )
  )
  override val proof: String =
    "The number of whole units is rounded towards zero, and each unit has a shortest and a longest length."

  override def implied(l: Expression, operator: Operator, r: Expression): Option[Expression] = {
    val isStrict = operator == Operator.Less
    (l, r) match {
      case (Whole(units), Number(most)) =>
        units.below(math.floor(most).toLong - (if (isStrict && isWhole(most)) 1 else 0))
      case (Whole(units), most) if isWholeNumber(most) => units.below(most)
      case (Number(least), Whole(units)) =>
        units.above(math.ceil(least).toLong + (if (isStrict && isWhole(least)) 1 else 0))
      case (Rounded(units), Number(most)) => units.below(math.ceil(most).toLong + 1)
      case (Number(least), Rounded(units)) => units.above(math.floor(least).toLong - 1)
      case _ => None
    }
  }

  private def isWholeNumber(e: Expression): Boolean =
    !e.foldable && (e.dataType == IntegerType || e.dataType == LongType)

  private def isWhole(number: Double): Boolean = number == math.rint(number)

  /**
   * The difference of two times in units.
   *
   * @param shortest the microseconds of a unit
   */
  private final case class InUnits(
      end: Expression,
      start: Expression,
      zone: Option[String],
      shortest: Long,
      longest: Long
  ) {
    private val difference = SubtractTimestamps(end, start, legacyInterval = false, zone)

    def below(most: Long): Option[Expression] =
      if (most < 0) interval(most, shortest).map(LessThanOrEqual(difference, _))
      else interval(most + 1, longest).map(LessThan(difference, _))

    def above(least: Long): Option[Expression] =
      if (least > 0) interval(least, shortest).map(GreaterThanOrEqual(difference, _))
      else interval(least - 1, longest).map(GreaterThan(difference, _))

    /** More units than there can be between two times are as good as any. */
    def below(most: Expression): Option[Expression] =
      if (shortest != longest) None
      else {
        val limit = Literal(Long.MaxValue / longest - 1)
        val units = Greatest(Seq(UnaryMinus(limit), Least(Seq(Cast(most, LongType), limit))))
        val length = new Multiply(new Add(units, Literal(1L)), Literal(longest))
        // At the limit this is the greatest number.
        val farthest = new Add(length, Literal(Long.MaxValue % longest))
        Some(And(IsNotNull(most), LessThanOrEqual(difference, farthest)))
      }

    private def interval(units: Long, length: Long): Option[Literal] =
      Try(Math.multiplyExact(units, length)).toOption.map(Literal(_, DayTimeIntervalType()))
  }

  /** A whole number of units. */
  private object Whole {
    def unapply(e: Expression): Option[InUnits] = e match {
      case TimestampDiff(unit, start, end, zone) =>
        Lengths.get(unit.toUpperCase(java.util.Locale.ROOT)).map { case (shortest, longest) =>
          InUnits(end, start, zone, shortest, longest)
        }
      case c: Cast if Safety.widens(c.child.dataType, c.dataType) => unapply(c.child)
      case _ => None
    }
  }

  /** A number of units with a fraction, which is less than a unit. */
  private object Rounded {
    def unapply(e: Expression): Option[InUnits] = e match {
      case MonthsBetween(end, start, _, zone) =>
        val (shortest, longest) = Lengths("MONTH")
        Some(InUnits(end, start, zone, shortest, longest))
      case _ => None
    }
  }

  private object Number {
    def unapply(e: Expression): Option[Double] =
      if (!e.foldable) None
      else Try(e.eval()).toOption.collect { case n: java.lang.Number => n.doubleValue }
        .filter(n => math.abs(n) < MostUnits)
  }

  /** Larger numbers are no whole numbers of 64 bits when they are multiplied. */
  private val MostUnits = 1e15

  private val Second = 1000000L
  private val Day = 24 * 3600 * Second

  /** The shortest and the longest in microseconds. */
  private val Lengths: Map[String, (Long, Long)] = Map(
    "MICROSECOND" -> 1L,
    "MILLISECOND" -> 1000L,
    "SECOND" -> Second,
    "MINUTE" -> 60 * Second,
    "HOUR" -> 3600 * Second,
    "DAY" -> Day,
    "WEEK" -> 7 * Day
  ).map { case (unit, length) => unit -> ((length, length)) } ++ Map(
    "MONTH" -> ((28 * Day, 31 * Day)),
    "QUARTER" -> ((89 * Day, 92 * Day)),
    "YEAR" -> ((365 * Day, 366 * Day))
  )
}
