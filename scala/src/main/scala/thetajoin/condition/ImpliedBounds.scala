package thetajoin.condition

import org.apache.spark.sql.catalyst.expressions._

/**
 * Comparisons that a distance or a sum of floating-point numbers implies:
 *
 * {{{
 *   a.x - b.x <= 3.5                                                      b.x >= a.x - 3.5
 *   abs(a.x - b.x) <= a.d                                                 b.x between a.x - a.d and a.x + a.d
 *   (a.x - b.x) * (a.x - b.x) + pow(a.y - b.y, 2) <= 25                   b.x between a.x - 5 and a.x + 5,
 *                                                                         b.y between a.y - 5 and a.y + 5
 *   sqrt(..) <= 5, hypot(a.x - b.x, a.y - b.y) <= 5, abs(..) + abs(..) <= 5   the same
 *   st_distance(a.shape, b.shape) <= 5                                    the same of the ends of their bounding boxes
 *   6371 * acos(..) <= 5                                                  the same of points in space: see [[Arc]]
 * }}}
 *
 * Such arithmetic rounds. So the bounds are moved outward ([[OutwardSum]]), and the original decides on all
 * candidates. Whole numbers are served too, if their arithmetic raises an error when it overflows. If it wraps
 * around, values that are far apart may count as near.
 */
private[condition] object ImpliedBounds {

  def of(
      source: Expression,
      left: Expression,
      operator: Operator,
      right: Expression,
      sides: Sides
  ): Option[Implied] =
    if (operator.isBelow) new ImpliedBounds(source, sides).of(left, right)
    else new ImpliedBounds(source, sides).of(right, left)

  /**
   * A term of a sum that is zero at most.
   *
   * @param isReach whether all that is compared with the term passes if it is NaN, or an infinity that stands for no
   *   bound. It does not stand alone then, but in an [[OutwardSum]]
   */
  private final case class Term(value: Expression, weight: Double, isReach: Boolean = false)
}

private final class ImpliedBounds(source: Expression, sides: Sides) {
  import ImpliedBounds._
  import NumberForms._
  import Safety.{isMeasured, isNumber}

  private val precision = Precision.of(source)

  /** Of `lower <= upper`. */
  def of(lower: Expression, upper: Expression): Option[Implied] = {
    val reach = sum(upper).map(_.map(_.copy(isReach = true)))
    val plain = for (l <- sum(lower); u <- reach) yield isolated(l ++ scaled(u, -1)).toSeq
    val found = plain.filter(_.nonEmpty).getOrElse {
      val byLength = reach.toSeq.flatMap(within(lower, _))
      val bySquare = root(upper).toSeq.flatMap(withinSquare(lower, _))
      val byRatio = ratio(lower, upper, isBelow = true) ++ ratio(upper, lower, isBelow = false)
      byLength ++ bySquare ++ byRatio
    }
    if (found.isEmpty) None else Some(Implied(source, found))
  }

  /**
   * Of `x / y <= most`, or `x / y >= most`. The sign of `y` tells which end of `x` is bounded. Where `y` has the other
   * sign, the bound is infinite, so that there is none.
   */
  private def ratio(
      quotient: Expression,
      most: Expression,
      isBelow: Boolean
  ): Seq[Comparison] = (quotient, most) match {
    case (Divide(x, y, _), Constant(c)) if isMeasured(quotient) && sides.ofOne(y) =>
      val towards = if (isBelow) 1 else -1
      for {
        isPositive <- Seq(true, false)
        sign = if (isPositive) towards else -towards
        terms <- dividend(x, y, sign)
        bound = Term(onlyIf(y, isPositive), -sign * c, isReach = true)
        comparison <- isolated(terms :+ bound)
      } yield comparison
    case _ => Nil
  }

  /** A quotient that is not a number is the greatest one, whatever the sign of the divisor. */
  private def dividend(x: Expression, y: Expression, sign: Int): Seq[Seq[Term]] =
    if (sides.split(x, y)) {
      val number = asDouble(x)
      val passing = Literal(if (sign > 0) Double.NegativeInfinity else Double.PositiveInfinity)
      Seq(Seq(Term(If(IsNaN(number), passing, number), sign)))
    } else sum(x).map(terms => scaled(terms.map(_.copy(isReach = true)), sign)).toSeq

  /** A number, if it has this sign, or else infinity. */
  private def onlyIf(value: Expression, isPositive: Boolean): Expression = {
    val number = asDouble(value)
    val zero = Literal(0.0)
    val hasSign = if (isPositive) GreaterThan(number, zero) else LessThan(number, zero)
    If(hasSign, number, Literal(Double.PositiveInfinity))
  }

  /** Of `length <= reach`. */
  private def within(length: Expression, reach: Seq[Term]): Seq[Comparison] = length match {
    case Abs(child, _) if isMeasured(length) => nearZero(child, reach)
    case Sqrt(child) => withinSquare(child, reach)
    case Pow(child, Constant(0.5)) => withinSquare(child, reach)
    case Hypot(x, y) => nearZero(x, reach) ++ nearZero(y, reach)
    case Arc(arc) =>
      val most = scaled(reach, 1 / arc.radius) :+ Term(Literal(Arc.Slack), 1.0)
      arc.points.flatMap { case (from, to) => from.spans.zip(to.spans).flatMap(apart(_, most)) }
    case distance: Distance =>
      // Its arithmetic rounds in parts of all coordinates, also of the far ends of edges.
      val rounded = distance.sizes.map(size => Term(size, -LeastWeight))
      distance.spans.flatMap(apart(_, reach ++ scaled(rounded, -1)))
    case Add(x, y, _) if isMeasured(length) && Seq(x, y).forall(isLength) =>
      within(x, reach) ++ within(y, reach)
    case Weighted(weight, x) if weight > 0 => within(x, scaled(reach, 1 / weight))
    case Widened(child) => within(child, reach)
    case Divide(x, y, _) if isMeasured(length) && sides.ofOne(y) =>
      constant(reach).map(c => Term(onlyIf(y, isPositive = true), c, isReach = true))
        .orElse(product(reach, y)).toSeq
        .flatMap(most => within(x, Seq(most)))
    case Multiply(x, y, _) if isMeasured(length) && sides.ofOne(y) =>
      // Where y is not above zero, the product tells nothing: its inverse would be negative, or infinite.
      val inverse = Pow(onlyIf(y, isPositive = true), Literal(-1.0))
      constant(reach).toSeq.flatMap(c =>
        within(x, Seq(Term(unlessZero(inverse), c, isReach = true)))
      )
    case _ => Nil
  }

  /** Of a gap between spans that is at most a reach. */
  private def apart(spans: (Span, Span), reach: Seq[Term]): Seq[Comparison] = {
    val (left, right) = spans
    for {
      (low, high) <- Seq(left.low -> right.high, right.low -> left.high)
      comparison <- isolated(Seq(Term(low, 1.0), Term(high, -1.0)) ++ scaled(reach, -1))
    } yield comparison
  }

  /** A reach times a divisor of its side. Where that is not above zero, the quotient tells nothing. */
  private def product(reach: Seq[Term], divisor: Expression): Option[Term] = reach match {
    case Seq(Term(value, weight, _)) if !sides.split(value, divisor) =>
      val number = asDouble(divisor)
      val infinite = Literal(math.signum(weight) * Double.PositiveInfinity)
      val times = new Multiply(number, value)
      Some(Term(If(GreaterThan(number, Literal(0.0)), times, infinite), weight, isReach = true))
    case _ => None
  }

  private def unlessZero(inverse: Expression): Expression =
    If(EqualTo(inverse, Literal(0.0)), Literal(Double.PositiveInfinity), inverse)

  /** The number that terms without columns are together. */
  private def constant(terms: Seq[Term]): Option[Double] = {
    val numbers = terms.map(t => Constant.unapply(t.value).map(_ * t.weight))
    if (numbers.exists(_.isEmpty)) None else Some(numbers.flatten.sum)
  }

  /** Of `square <= reach * reach`. */
  private def withinSquare(square: Expression, reach: Seq[Term]): Seq[Comparison] = square match {
    case Multiply(x, y, _) if isMeasured(square) && x == y => nearZero(x, reach)
    case Pow(x, Constant(2.0)) => nearZero(x, reach)
    case Add(x, y, _) if isMeasured(square) && Seq(x, y).forall(isLength) =>
      withinSquare(x, reach) ++ withinSquare(y, reach)
    case Weighted(weight, x) if weight > 0 =>
      withinSquare(x, scaled(reach, 1 / math.sqrt(weight)))
    case Widened(child) => withinSquare(child, reach)
    case _ => Nil
  }

  /** Of `abs(difference) <= reach`. */
  private def nearZero(difference: Expression, reach: Seq[Term]): Seq[Comparison] =
    sum(difference).toSeq.flatMap { terms =>
      val beyond = scaled(reach, -1)
      isolated(terms ++ beyond) ++ isolated(scaled(terms, -1) ++ beyond)
    }

  /** The most that the square root of a number can be. */
  private def root(square: Expression): Option[Seq[Term]] = (sum(square), square) match {
    case (Some(Seq(Term(value, 1.0, _))), _) => Some(Seq(Term(Sqrt(value), 1.0, isReach = true)))
    case (_, Multiply(x, y, _)) if isMeasured(square) && x == y => sum(x).map(_.map(size))
    case (_, Pow(x, Constant(2.0))) => sum(x).map(_.map(size))
    case _ => None
  }

  private def size(term: Term): Term =
    Term(Abs(term.value), math.abs(term.weight), isReach = true)

  /** Whether it is not below zero, or else null or NaN. */
  private def isLength(e: Expression): Boolean = e match {
    case _: Sqrt | _: Hypot => true
    case _: Abs => isMeasured(e)
    case Multiply(x, y, _) => isMeasured(e) && (x == y || isLength(x) && isLength(y))
    case Pow(x, Constant(exponent)) => exponent == 2.0 || exponent >= 0 && isLength(x)
    case Add(x, y, _) => isMeasured(e) && isLength(x) && isLength(y)
    case Widened(child) => isLength(child)
    case Constant(value) => value >= 0
    case _ => false
  }

  /** As a sum of terms of one side each. */
  private def sum(e: Expression): Option[Seq[Term]] = e match {
    case _ if e.references.isEmpty || sides.ofLeft(e) || sides.ofRight(e) =>
      if (isNumber(e.dataType)) Some(Seq(Term(asDouble(e), 1.0))) else None
    case Add(l, r, _) if isMeasured(e) => for (x <- sum(l); y <- sum(r)) yield x ++ y
    case Subtract(l, r, _) if isMeasured(e) =>
      for (x <- sum(l); y <- sum(r)) yield x ++ scaled(y, -1)
    case UnaryMinus(child, _) if isMeasured(e) => sum(child).map(scaled(_, -1))
    case UnaryPositive(child) => sum(child)
    case Weighted(weight, x) => sum(x).map(scaled(_, weight))
    case Widened(child) => sum(child)
    case _ => None
  }

  private def scaled(terms: Seq[Term], by: Double): Seq[Term] =
    terms.map(t => t.copy(weight = t.weight * by))

  /** A comparison of the sides where a sum is at most zero. */
  private def isolated(terms: Seq[Term]): Option[Comparison] = {
    val (ofRight, others) = terms.partition(t => sides.ofRight(t.value))
    val (ofLeft, constant) = others.partition(t => sides.ofLeft(t.value))
    val isSplit = ofLeft.nonEmpty && ofRight.nonEmpty &&
      constant.forall(_.value.references.isEmpty)
    if (!isSplit || !terms.forall(t => isPrecise(t.weight))) None
    else {
      def compared(left: Expression, operator: Operator, right: Expression) =
        Comparison(source, left, operator, right, equivalent = false, exact = false)
      // A value that stands alone is about as large as the others at most, where the comparison holds or nearly does:
      // they tell the rounding.
      Some((ofLeft, ofRight) match {
        case (_, Seq(Term(value, 1.0, false))) =>
          val upper = outward(scaled(ofLeft ++ constant, -1), isUp = true)
          compared(upper, Operator.GreaterOrEqual, value)
        case (_, Seq(Term(value, -1.0, false))) =>
          compared(outward(ofLeft ++ constant, isUp = false), Operator.LessOrEqual, value)
        case (Seq(Term(value, 1.0, false)), _) =>
          val upper = outward(scaled(ofRight ++ constant, -1), isUp = true)
          compared(value, Operator.LessOrEqual, upper)
        case (Seq(Term(value, -1.0, false)), _) =>
          compared(value, Operator.GreaterOrEqual, outward(ofRight ++ constant, isUp = false))
        case _ =>
          val upper = outward(scaled(ofRight, -1), isUp = true)
          compared(outward(ofLeft ++ constant, isUp = false), Operator.LessOrEqual, upper)
      })
    }
  }

  private def outward(terms: Seq[Term], isUp: Boolean): Expression =
    OutwardSum(terms.map(_.value), terms.map(_.weight), isUp, precision)
}
