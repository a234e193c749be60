package thetajoin.condition

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/**
 * Rewrites a comparison of sums whose terms come from both sides into one key a side: `a.x - b.y > 3` becomes `a.x -
 * 3 > b.y`, with keys `a.x - 3` and `b.y`.
 *
 * Moving a term is exact in whole numbers but not in machine arithmetic, where the original may wrap around (ANSI
 * off) or raise an error (ANSI on). Both can only happen to a pair if some term is large, so the keys are
 * [[BoundedSum]]s. They fail for a term beyond a limit that leaves room for every partial sum. A row whose key fails
 * is a candidate for every row of the other side, and the original conjunct decides on all candidates. Nulls agree: a
 * sum is null if a term is, and so is the original comparison.
 *
 * Sums of whole numbers and differences of dates and of timestamps are rewritten. Sums of floating-point numbers and
 * decimals round, and are left.
 */
private[condition] object LinearIsolation {

  private final case class Term(expression: Expression, negative: Boolean)

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
      all = leftTerms ++ rightTerms
      (ofRight, others) = all.partition(t => sides.ofRight(t.expression))
      if ofRight.nonEmpty && others.exists(t => sides.ofLeft(t.expression))
    } yield {
      val limit = largest(math.min(leftBits, rightBits), all.size)
      Comparison(
        source,
        sum(others, limit),
        operator,
        sum(ofRight.map(t => t.copy(negative = !t.negative)), limit),
        exact = false
      )
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
      case c: Cast
          if integral(c.child.dataType) && integral(c.dataType) && Safety.widens(
            c.child.dataType,
            c.dataType
          ) =>
        bits(c.child.dataType).flatMap(b => terms(c.child, negative, math.min(b, width), sides))
      case DateDiff(end, start) => both(end, start, minus = true, math.min(32, width))
      case s: SubtractTimestamps if s.dataType.isInstanceOf[DayTimeIntervalType] =>
        both(local(s.left, s), local(s.right, s), minus = true, width)
      case _ => None
    }
  }

  private def integral(t: DataType): Boolean = t match {
    case ByteType | ShortType | IntegerType | LongType => true
    case _ => false
  }

  /** Timestamps are subtracted as local times, so that each side's key is its local time. */
  private def local(e: Expression, s: SubtractTimestamps): Expression = e.dataType match {
    case TimestampType => Cast(e, TimestampNTZType, s.timeZoneId)
    case _ => e
  }

  /** The expression as a whole number of 64 bits, if its type is one underneath. */
  private def whole(e: Expression): Option[Expression] =
    if (bits(e.dataType).isDefined) Some(e) else None

  private def bits(t: DataType): Option[Int] = t match {
    case ByteType => Some(8)
    case ShortType => Some(16)
    case IntegerType | DateType => Some(32)
    case LongType | TimestampNTZType | _: DayTimeIntervalType => Some(64)
    case _ => None
  }

  /** The largest magnitude of a term for which no partial sum of `terms` terms leaves `bits` bits. */
  private def largest(bits: Int, terms: Int): Long = ((1L << (bits - 2)) - 1) / terms

  private def sum(terms: Seq[Term], limit: Long): Expression =
    BoundedSum(terms.map(_.expression), terms.map(_.negative), limit)
}
