package thetajoin.condition

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/**
 * Rewrites a comparison of sums whose terms come from both sides into one key a side: `a.x - b.y > 3` becomes `a.x -
 * 3 > b.y`, with keys `a.x - 3` and `b.y`.
 *
 * Moving a term is exact in whole numbers but not in machine arithmetic. If the original raises an error where it
 * overflows (ANSI on), the keys are sums without limit: all pairs for which the original is true pass. If it may wrap
 * around (ANSI off), a pair may be true although the numbers are far apart. This can only happen if some term is
 * large. So the keys are [[BoundedSum]]s with a limit for terms that leaves room for every partial sum. A row whose
 * key fails is a candidate for every row of the other side, and the original conjunct decides on all candidates.
 * Nulls agree: a sum is null if a term is, and so is the original comparison.
 *
 * Sums of whole numbers and decimals, differences of dates and of timestamps, and intervals that are added to these
 * are rewritten. Sums of floating-point numbers round, and are left.
 */
private[condition] object LinearIsolation {

  private final case class Term(expression: Expression, negative: Boolean) {

    /** The digits behind the point. */
    def scale: Int = expression.dataType match {
      case d: DecimalType => d.scale
      case _ => 0
    }

    /** As a number with so many digits behind the point, without the point. None if it does not fit 64 bits. */
    def scaled(scale: Int): Option[Term] = expression.dataType match {
      case d: DecimalType =>
        val precision = d.precision - d.scale + scale
        if (precision > Decimal.MAX_LONG_DIGITS) None
        else Some(copy(OrderedLong(Cast(expression, DecimalType(precision, scale)))))
      case _ => if (scale == 0) Some(this) else None
    }
  }

  def isolate(
      source: Expression,
      left: Expression,
      operator: Operator,
      right: Expression,
      sides: Sides
  ): Option[Comparison] =
    for {
      width <- bits(left.dataType)
      (leftTerms, leftBits) <- terms(left, negative = false, width, sides)
      (rightTerms, rightBits) <- terms(right, negative = true, width, sides)
      written = leftTerms ++ rightTerms
      scaled = written.map(_.scaled(written.map(_.scale).max))
      if scaled.forall(_.nonEmpty)
      slack = Seq(left, right).map(ofClocks).sum
      late = Term(Literal(slack), negative = operator.isBelow)
      all = scaled.flatten ++ (if (slack > 0) Seq(late) else Nil)
      (ofRight, others) = all.partition(t => sides.ofRight(t.expression))
      if ofRight.nonEmpty && others.exists(t => sides.ofLeft(t.expression))
    } yield {
      val limit =
        if (Seq(left, right).forall(neverWraps)) BoundedSum.NoLimit
        else largest(math.min(leftBits, rightBits), all.size)
      Comparison(
        source,
        sum(others, limit),
        // Without a limit, sums that do not fit are equal.
        if (limit == BoundedSum.NoLimit) operator.orEqual else operator,
        sum(ofRight.map(t => t.copy(negative = !t.negative)), limit),
        equivalent = false,
        exact = false
      )
    }

  /**
   * By how many microseconds adding an interval to a time may differ from adding its microseconds: days are added to
   * the local time, whose clocks may be changed.
   */
  private def ofClocks(e: Expression): Long =
    MostClockChange * e.collect {
      case added @ TimePlus(_, _) =>
        added.asInstanceOf[TimeZoneAwareExpression].timeZoneId.flatMap(LocalTime.of)
    }.flatten.size

  /** Two days in microseconds: zones have moved across the date line. */
  private val MostClockChange = 2L * 24 * 3600 * 1000000

  /** A time and an interval of days and less that is added to it. The class has other names in other versions. */
  private object TimePlus {
    def unapply(e: Expression): Option[(Expression, Expression)] = e match {
      case b: BinaryExpression
          if b.isInstanceOf[TimeZoneAwareExpression] && isTime(b.dataType) &&
            isTime(b.left.dataType) && b.right.dataType.isInstanceOf[DayTimeIntervalType] =>
        Some((b.left, b.right))
      case _ => None
    }
  }

  private def isTime(t: DataType): Boolean = t == TimestampType || t == TimestampNTZType

  /** Whether the arithmetic of a sum raises an error where its result has no place. */
  private def neverWraps(e: Expression): Boolean = e match {
    case _: Add | _: Subtract | _: UnaryMinus =>
      Safety.neverWraps(e) && e.children.forall(neverWraps)
    case _: DateDiff => false
    case _ => e.children.forall(neverWraps)
  }

  /** The signed terms of a sum, with the width in bits of the narrowest arithmetic among them. */
  private def terms(
      e: Expression,
      negative: Boolean,
      width: Int,
      sides: Sides
  ): Option[(Seq[Term], Int)] = {
    def both(l: Expression, r: Expression, minus: Boolean, narrowest: Int) = for {
      (lt, lb) <- terms(l, negative, narrowest, sides)
      (rt, rb) <- terms(r, negative != minus, narrowest, sides)
    } yield (lt ++ rt, Seq(lb, rb, narrowest).min)

    e match {
      case _ if e.references.isEmpty || sides.ofLeft(e) || sides.ofRight(e) =>
        whole(e).map(w => (Seq(Term(w, negative)), width))
      case Add(l, r, _) =>
        bits(e.dataType).flatMap(b => both(l, r, minus = false, math.min(b, width)))
      case Subtract(l, r, _) =>
        bits(e.dataType).flatMap(b => both(l, r, minus = true, math.min(b, width)))
      case UnaryMinus(child, _) =>
        bits(e.dataType).flatMap(b => terms(child, !negative, math.min(b, width), sides))
      case UnaryPositive(child) => terms(child, negative, width, sides)
      case c @ Cast(child, _: DecimalType, _, _)
          if child.dataType.isInstanceOf[DecimalType] && Safety.widens(
            child.dataType,
            c.dataType
          ) =>
        terms(child, negative, width, sides)
      case c: Cast
          if integral(c.child.dataType) && integral(c.dataType) && Safety.widens(
            c.child.dataType,
            c.dataType
          ) =>
        bits(c.child.dataType).flatMap(b => terms(c.child, negative, math.min(b, width), sides))
      case DateDiff(end, start) => both(end, start, minus = true, math.min(32, width))
      case s: SubtractTimestamps if s.dataType.isInstanceOf[DayTimeIntervalType] =>
        both(local(s.left, s), local(s.right, s), minus = true, width)
      case SubtractDates(l, r, false) => both(midnight(l), midnight(r), minus = true, width)
      case TimePlus(time, interval) => both(time, interval, minus = false, width)
      case _ => None
    }
  }

  private def integral(t: DataType): Boolean = t match {
    case ByteType | ShortType | IntegerType | LongType => true
    case _ => false
  }

  private def midnight(date: Expression): Expression = Cast(date, TimestampNTZType)

  /** Timestamps are subtracted as local times, so that each side's key is its local time if clocks may change. */
  private def local(e: Expression, s: SubtractTimestamps): Expression = e.dataType match {
    case TimestampType if s.timeZoneId.flatMap(LocalTime.of).nonEmpty =>
      Cast(e, TimestampNTZType, s.timeZoneId)
    case _ => e
  }

  /** The expression as a whole number of 64 bits, if its type is one underneath. */
  private def whole(e: Expression): Option[Expression] =
    if (bits(e.dataType).isDefined) Some(e) else None

  private def bits(t: DataType): Option[Int] = t match {
    case ByteType => Some(8)
    case ShortType => Some(16)
    case IntegerType | DateType => Some(32)
    case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType => Some(64)
    // With fewer digits than the most that there are, no sum is rounded.
    case d: DecimalType if d.precision < DecimalType.MAX_PRECISION => Some(64)
    case _ => None
  }

  /** The largest magnitude of a term for which no partial sum of `terms` terms leaves `bits` bits. */
  private def largest(bits: Int, terms: Int): Long = ((1L << (bits - 2)) - 1) / terms

  private def sum(terms: Seq[Term], limit: Long): Expression = terms match {
    case Seq(Term(value, false)) if limit == BoundedSum.NoLimit => OrderedLong.of(value)
    case _ => BoundedSum(terms.map(_.expression), terms.map(_.negative), limit)
  }
}
