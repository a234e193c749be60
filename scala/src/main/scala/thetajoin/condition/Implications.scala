package thetajoin.condition

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types.BooleanType

import thetajoin.condition.rules.{Bounding, Branches, End, Rules}

/**
 * Comparisons between the sides that a condition implies, although it is none itself. None of them is exact.
 *
 * {{{
 *   greatest(a.s, b.s) <= least(a.e, b.e)                   a.s <= b.e AND b.s <= a.e
 *   b.hi IS NULL OR a.t < b.hi                              a.t <= (infinity if b.hi is null, else b.hi)
 *   a.d > b.d OR a.d = b.d AND a.id > b.id                  a.d >= b.d
 *   a.s BETWEEN b.s AND b.e OR b.s BETWEEN a.s AND a.e      a.s <= greatest(b.s, b.e) AND b.s <= greatest(a.s, a.e)
 *   a.x - b.x IN (-1, 0, 1)                                 a.x - b.x >= -1 AND a.x - b.x <= 1
 * }}}
 *
 * A key is open for a row if the condition tells nothing about it. It is then an infinity, so that the row passes the
 * comparison with all rows whose key is not null.
 *
 * @param isNotNull whether an expression is not null where the whole condition of the join is true
 * @param isolate the comparisons with a side each that a comparison of two values implies
 */
private[condition] final class Implications(
    sides: Sides,
    isNotNull: Expression => Boolean
)(isolate: (Expression, Operator, Expression) => Seq[Comparison]) {

  def of(condition: Expression): Seq[Comparison] = condition match {
    case And(l, r) => of(l) ++ of(r)
    case OrderedBy(l, operator, r) =>
      Rules.implied(l, operator, r).fold(ordered(l, operator, r))(of)
    case EqualTo(l, r)
        if !sides.split(l, r) && RowOrdering.isOrderable(l.dataType) && !isChosen(condition) =>
      of(GreaterThanOrEqual(l, r)) ++ of(LessThanOrEqual(l, r))
    case Listed(value, least, most) =>
      of(GreaterThanOrEqual(value, least)) ++ of(LessThanOrEqual(value, most))
    case pair: ImpliesComparisons =>
      pair.implied.flatMap { case (l, operator, r) => isolate(l, operator, r) }
    case other => Alternatives.of(other).fold(Seq.empty[Comparison])(ofAny)
  }

  /** A value that is equal to one of several is better looked up among each. */
  private def isChosen(e: Expression): Boolean = e.exists {
    case _: CaseWhen | _: If | _: Coalesce => true
    case _ => false
  }

  /** The bounds of the lower value from below with the bounds of the upper one from above. */
  private def ordered(l: Expression, operator: Operator, r: Expression): Seq[Comparison] = {
    val end = if (operator.isBelow) End.Below else End.Above
    for {
      left <- Rules.bounds(l, end)
      right <- Rules.bounds(r, end.opposite)
      unless =
        (left.unless ++ right.unless).flatMap(eachSide) ++ Seq(left, right).flatMap(notANumber)
      comparison <- isolate(left.value, operator, right.value)
      opened <- openedBy(comparison, unless.distinct)
    } yield opened
  }

  /** A value of both sides is null where a part of it is. So is one that may fail, if it does not. */
  private def eachSide(unless: Expression): Seq[Expression] = unless match {
    case IsNull(value) if !sides.ofOne(value) || !Safety.cannotFail(value) =>
      Nulls.of(value, sides).getOrElse(Seq(unless))
    case other => Seq(other)
  }

  /** One infinity less another may stand in for a number. */
  private def notANumber(bound: Bounding): Option[Expression] = bound.value match {
    case sum @ (_: Add | _: Subtract) if Safety.isFractional(sum.dataType) && sides.ofOne(sum) =>
      Some(IsNaN(sum))
    case _ => None
  }

  /** Alternatives of one side open the comparisons that all others imply. */
  private def ofAny(alternatives: Seq[Expression]): Seq[Comparison] = {
    val (ofOneSide, paired) = alternatives.partition(sides.ofOne)
    val implied = paired match {
      case Nil => Nil
      case Seq(one) => of(one)
      case several => shared(several)
    }
    implied.flatMap(openedBy(_, ofOneSide))
  }

  /**
   * What each of several conditions implies: comparisons of the same keys, or else, if each bounds from both ends, of
   * the least and the greatest of their keys.
   */
  private def shared(conditions: Seq[Expression]): Seq[Comparison] = {
    val ends = Seq(true, false)
    val implied = conditions.map(of)
    val same = ends.flatMap { isBelow =>
      val each = conditions.zip(implied).map { case (condition, comparisons) =>
        (comparisons ++ ofEqual(condition)).filter(_.operator.isBelow == isBelow)
      }
      each.head.flatMap(sameInAll(_, each.tail))
    }
    if (same.nonEmpty) same
    else {
      val widest = ends.map { isBelow =>
        val firsts = implied.map(_.find(_.operator.isBelow == isBelow))
        if (firsts.forall(_.exists(_.isNumeric))) Some(widened(firsts.flatten)) else None
      }
      if (widest.forall(_.nonEmpty)) widest.flatten else Nil
    }
  }

  private def ofEqual(condition: Expression): Seq[Comparison] = condition match {
    case And(l, r) => ofEqual(l) ++ ofEqual(r)
    case EqualTo(l, r) if RowOrdering.isOrderable(l.dataType) =>
      Seq(Operator.LessOrEqual, Operator.GreaterOrEqual).flatMap(isolate(l, _, r))
    case _ => Nil
  }

  private def sameInAll(c: Comparison, others: Seq[Seq[Comparison]]): Option[Comparison] = {
    val found = others.map(_.find(o =>
      o.left.semanticEquals(c.left) && o.right.semanticEquals(c.right)
    ))
    if (found.exists(_.isEmpty)) None
    else if (found.flatten.forall(_.operator == c.operator)) Some(c)
    else Some(c.copy(operator = c.operator.orEqual))
  }

  private def widened(comparisons: Seq[Comparison]): Comparison = {
    def all(keys: Seq[Expression], isLower: Boolean): Expression =
      keys.map(OrderedLong.of).distinctBy(_.canonicalized) match {
        case Seq(one) => one
        case several => if (isLower) Least(several) else Greatest(several)
      }
    val isBelow = comparisons.head.operator.isBelow
    comparisons.head.copy(
      left = all(comparisons.map(_.left), isBelow),
      operator = comparisons.head.operator.orEqual,
      right = all(comparisons.map(_.right), !isBelow),
      equivalent = false,
      exact = false
    )
  }

  /** The same comparison where no condition is true; otherwise it is passed. */
  private def openedBy(c: Comparison, conditions: Seq[Expression]): Option[Comparison] =
    conditions.foldLeft(Option(c))((opened, when) =>
      opened.flatMap(open(_, when)).map(openOther(_, when))
    )

  /** The key of the side that `when` reads is open. */
  private def open(c: Comparison, when: Expression): Option[Comparison] =
    if (!isOrdered(c) || !Safety.cannotFail(when)) None
    else if (sides.ofLeft(when)) Some(c.opened(when, isLeft = true))
    else if (sides.ofRight(when)) Some(c.opened(when, isLeft = false))
    else None

  /** Where `when` is true the key of the other side may be null too. */
  private def openOther(c: Comparison, when: Expression): Comparison = {
    val isLeft = !sides.ofLeft(when)
    val key = if (isLeft) c.left else c.right
    if (!key.nullable || isNotNull(key)) c else c.opened(IsNull(key), isLeft)
  }

  private def isOrdered(c: Comparison): Boolean =
    c.left.dataType == c.right.dataType && RowOrdering.isOrderable(c.left.dataType)
}

/** Conditions of one side each; a value is null if and only if one of them is true. */
private object Nulls {
  def of(value: Expression, sides: Sides): Option[Seq[Expression]] = value match {
    case _ if value.references.isEmpty => Some(Seq(IsNull(value)).filter(_ => value.nullable))
    case _ if sides.ofOne(value) && Safety.cannotFail(value) =>
      Some(if (value.nullable) Seq(IsNull(value)) else Nil)
    case _: Add | _: Subtract | _: Multiply | _: UnaryMinus | _: Abs if Safety.isMeasured(value) =>
      ofParts(value.children, sides)
    case NumberForms.Widened(child) => of(child, sides)
    case _: DateDiff | _: TimestampDiff | _: SubtractTimestamps => ofParts(value.children, sides)
    case _ => None
  }

  private def ofParts(parts: Seq[Expression], sides: Sides): Option[Seq[Expression]] = {
    val each = parts.map(of(_, sides))
    if (each.forall(_.nonEmpty)) Some(each.flatten.flatten) else None
  }
}

/** A value in a list of numbers or dates, with the least and the greatest of them. */
private object Listed {
  def unapply(condition: Expression): Option[(Expression, Literal, Literal)] = condition match {
    case In(value, list) if list.forall(_.foldable) => ends(value, list.map(_.eval()))
    case InSet(value, list) => ends(value, list.toSeq)
    case _ => None
  }

  private def ends(value: Expression, list: Seq[Any]): Option[(Expression, Literal, Literal)] = {
    val known = list.filter(_ != null)
    if (known.isEmpty || !OrderedLong.orders(value.dataType)) None
    else {
      val order = TypeUtils.getInterpretedOrdering(value.dataType)
      def literal(end: Any) = Literal(end, value.dataType)
      Some((value, literal(known.min(order)), literal(known.max(order))))
    }
  }
}

/** A condition that is true if one of several is. */
private object Alternatives {
  def of(condition: Expression): Option[Seq[Expression]] = condition match {
    case _: Or => Some(ofOr(condition))
    case If(when, yes, no) if condition.dataType == BooleanType =>
      Some(ofCase(Seq(when -> yes), Some(no)))
    case CaseWhen(branches, otherwise)
        if condition.dataType == BooleanType && branches.size <= Branches.Most =>
      Some(ofCase(branches, otherwise))
    case Coalesce(Seq(value, Literal.FalseLiteral)) => Some(Seq(value))
    case _ => None
  }

  private def ofOr(e: Expression): Seq[Expression] = e match {
    case Or(l, r) => ofOr(l) ++ ofOr(r)
    case other => Seq(other)
  }

  /** A branch without the conditions ahead of it, which is true for more rows. */
  private def ofCase(
      branches: Seq[(Expression, Expression)],
      otherwise: Option[Expression]
  ): Seq[Expression] = {
    val chosen = branches.collect {
      case (when, Literal.TrueLiteral) => when
      case (when, value) if value != Literal.FalseLiteral => And(when, value)
    }
    chosen ++ otherwise.filterNot(_ == Literal.FalseLiteral)
  }
}
