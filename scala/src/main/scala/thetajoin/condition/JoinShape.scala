package thetajoin.condition

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Coalesce,
  CreateStruct,
  Expression,
  GreaterThan,
  GreaterThanOrEqual,
  Greatest,
  If,
  IsNull,
  Least,
  LessThan,
  LessThanOrEqual,
  Literal
}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.types.DataTypeUtils

/**
 * The condition of a join, split into conjuncts. `conjuncts` keeps the order of the plan, since a conjunct may guard
 * a later one against an error.
 */
final case class JoinShape(
    left: Seq[Attribute],
    right: Seq[Attribute],
    conjuncts: Seq[Conjunct]
) {

  /** All comparisons of values of the two sides. Inexact ones that bound the same value from the same end are one. */
  lazy val comparisons: Seq[Comparison] = conjuncts.collect {
    case c: Comparison => Seq(c)
    case i: Implied => i.comparisons
  }.flatten.foldLeft(Seq.empty[Comparison]) { (found, next) =>
    found.iterator.map(_.and(next)).indexWhere(_.nonEmpty) match {
      case -1 => found :+ next
      case i => found.updated(i, found(i).and(next).get)
    }
  }

  /**
   * The comparisons, with keys that fail only for values for which Spark's own evaluation fails. A sum over both sides,
   * which fails for large values, is open for them.
   */
  def plainComparisons: Seq[Comparison] = comparisons.map(_.plain)

  def equiKeys: Seq[EquiKey] = conjuncts.collect { case k: EquiKey => k }
  def nullAwareKeys: Seq[NullAwareKey] = conjuncts.collect { case k: NullAwareKey => k }
}

/** One conjunct of a join condition; `source` is the expression as Spark wrote it. */
sealed trait Conjunct {
  def source: Expression
}

/**
 * `left operator right`, where `left` reads columns of the left side alone and `right` of the right alone.
 * Every pair of rows for which `source` holds passes it or has a key that fails.
 *
 * @param equivalent whether a pair without a key that fails passes it if and only if `source` holds
 * @param exact whether it is equivalent, and neither key can raise an error
 */
final case class Comparison(
    source: Expression,
    left: Expression,
    operator: Operator,
    right: Expression,
    equivalent: Boolean,
    exact: Boolean
) extends Conjunct {

  /** The key expressions of (build, probe) and the operator between them in that order. */
  def oriented(buildSide: BuildSide): (Expression, Operator, Expression) = buildSide match {
    case BuildLeft => (left, operator, right)
    case BuildRight => (right, operator.flipped, left)
  }

  /** This and another one as one that both imply, if they bound the same value from the same end. */
  private[condition] def and(other: Comparison): Option[Comparison] = {
    def tightest(keys: Seq[Expression], isLower: Boolean) =
      if (isLower) Greatest(keys.map(OrderedLong.of)) else Least(keys.map(OrderedLong.of))
    val mayMeet = !equivalent && !other.equivalent && operator.isBelow == other.operator.isBelow &&
      isNumeric && other.isNumeric
    if (mayMeet && left.semanticEquals(other.left))
      Some(copy(
        left = OrderedLong.of(left),
        operator = operator.orEqual,
        right = tightest(Seq(right, other.right), isLower = !operator.isBelow)
      ))
    else if (mayMeet && right.semanticEquals(other.right))
      Some(copy(
        left = tightest(Seq(left, other.left), isLower = operator.isBelow),
        operator = operator.orEqual,
        right = OrderedLong.of(right)
      ))
    else None
  }

  /**
   * The same comparison where `when`, a condition of one side, is not true. Where it is true, the row passes.
   *
   * Keys become numbers of 64 bits, with an infinity for such rows. A long may itself be the greatest number, so equal
   * keys pass. Other keys become structs of a flag and the key, and the flag decides first.
   */
  private[condition] def opened(when: Expression, isLeft: Boolean): Comparison = {
    val infinite = infinity(isLeft)
    def key(value: Expression, isOpened: Boolean): Expression =
      if (isNumeric) {
        val number = OrderedLong.of(value)
        if (isOpened) If(when, Literal(infinite), number) else number
      } else {
        val same = Literal(0)
        val flag = if (isOpened) If(when, Literal(java.lang.Long.signum(infinite)), same) else same
        CreateStruct(Seq(flag, value))
      }
    copy(
      left = key(left, isLeft),
      operator = operator.orEqual,
      right = key(right, !isLeft),
      equivalent = false,
      exact = false
    )
  }

  /** Whether both keys are numbers of 64 bits in the order of the values. */
  def isNumeric: Boolean =
    DataTypeUtils.sameType(left.dataType, right.dataType) && OrderedLong.orders(left.dataType)

  /** The same with keys that pass the comparison where they are sums that would fail. */
  private[thetajoin] def plain: Comparison = {
    def isFailing(e: Expression) = e match {
      case sum: BoundedSum => sum.fails
      case _ => false
    }
    def opened(key: Expression, isLeft: Boolean) = key.transform {
      case sum: BoundedSum if sum.fails => sum.copy(beyond = Some(infinity(isLeft)))
    }
    if (!left.exists(isFailing) && !right.exists(isFailing)) this
    else
      copy(
        left = opened(left, isLeft = true),
        operator = operator.orEqual,
        right = opened(right, isLeft = false)
      )
  }

  /** The number that passes with each number of the other side, as the left or the right key. */
  private[condition] def infinity(isLeft: Boolean): Long =
    if (operator.isBelow == isLeft) Long.MinValue else Long.MaxValue
}

/**
 * If it holds, so do these comparisons. None of them is exact. `abs(a.x - b.x) <= d` implies two of them, and a
 * distance in two dimensions four.
 */
final case class Implied(source: Expression, comparisons: Seq[Comparison]) extends Conjunct

/**
 * `left = right`, or `left <=> right` if `nullSafe`, where `left` reads columns of the left side alone and `right` of
 * the right alone: a key of Spark's own joins.
 */
final case class EquiKey(source: Expression, left: Expression, right: Expression, nullSafe: Boolean)
    extends Conjunct {

  /** The expressions of the build side and of the probe side that must be equal, none of them null. */
  def oriented(buildSide: BuildSide): (Seq[Expression], Seq[Expression]) = buildSide match {
    case BuildLeft => (parts(left), parts(right))
    case BuildRight => (parts(right), parts(left))
  }

  private def parts(e: Expression): Seq[Expression] =
    if (nullSafe) Seq(Coalesce(Seq(e, Literal.default(e.dataType))), IsNull(e))
    else Seq(e)
}

/**
 * `left = right OR isnull(left = right)` as in NOT IN, where `left` reads columns of the left side alone, `right` of
 * the right alone, and neither can raise an error.
 */
final case class NullAwareKey(source: Expression, left: Expression, right: Expression)
    extends Conjunct {

  /** The key expressions of (build, probe). */
  def oriented(buildSide: BuildSide): (Expression, Expression) = buildSide match {
    case BuildLeft => (left, right)
    case BuildRight => (right, left)
  }
}

/**
 * `left <> right`, where `left` reads columns of the left side alone, `right` of the right alone, and neither can
 * raise an error.
 */
final case class Unequal(source: Expression, left: Expression, right: Expression) extends Conjunct {

  /** The expressions of (build, probe). */
  def oriented(buildSide: BuildSide): (Expression, Expression) = buildSide match {
    case BuildLeft => (left, right)
    case BuildRight => (right, left)
  }
}

/** Reads columns of one side only and can't raise an error, so it is tested once for each row of that side. */
final case class OneSided(source: Expression, side: BuildSide) extends Conjunct

/** Whatever else: checked for each pair. */
final case class Opaque(source: Expression) extends Conjunct

/** @param of the comparison of two values by it */
sealed abstract class Operator(val symbol: String, val of: (Expression, Expression) => Expression) {
  def flipped: Operator

  /** Whether it asks for the left value to be the lower one. */
  def isBelow: Boolean = this == Operator.Less || this == Operator.LessOrEqual

  /** The operator that holds for equal values too. */
  def orEqual: Operator = if (isBelow) Operator.LessOrEqual else Operator.GreaterOrEqual
}

object Operator {
  case object Less extends Operator("<", LessThan(_, _)) { def flipped: Operator = Greater }
  case object LessOrEqual extends Operator("<=", LessThanOrEqual(_, _)) {
    def flipped: Operator = GreaterOrEqual
  }
  case object Greater extends Operator(">", GreaterThan(_, _)) { def flipped: Operator = Less }
  case object GreaterOrEqual extends Operator(">=", GreaterThanOrEqual(_, _)) {
    def flipped: Operator = LessOrEqual
  }
}
