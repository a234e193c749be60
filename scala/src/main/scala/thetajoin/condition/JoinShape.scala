package thetajoin.condition

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Coalesce,
  Expression,
  GreaterThan,
  GreaterThanOrEqual,
  IsNull,
  LessThan,
  LessThanOrEqual,
  Literal
}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}

/**
 * The condition of a join, split into conjuncts. `conjuncts` keeps the order of the plan, since a conjunct may guard
 * a later one against an error.
 */
final case class JoinShape(
    left: Seq[Attribute],
    right: Seq[Attribute],
    conjuncts: Seq[Conjunct]
) {
  def comparisons: Seq[Comparison] = conjuncts.collect {
    case c: Comparison => Seq(c)
    case i: Implied => i.comparisons
  }.flatten

  /**
   * Comparisons whose keys fail only for values for which Spark's own evaluation fails. Sums over both sides are not
   * among them: they fail for large values.
   */
  def plainComparisons: Seq[Comparison] = comparisons.filterNot(_.isBounded)

  def equiKeys: Seq[EquiKey] = conjuncts.collect { case k: EquiKey => k }
  def nullAwareKeys: Seq[NullAwareKey] = conjuncts.collect { case k: NullAwareKey => k }
}

/** One conjunct of a join condition; `source` is the expression as Spark wrote it. */
sealed trait Conjunct {
  def source: Expression
}

/**
 * `left operator right`, where `left` reads columns of the left side alone and `right` of the right alone.
 * If `exact`, it holds for a pair of rows if and only if `source` does, and neither key can raise an error.
 * Otherwise every pair for which `source` holds passes it or has a key that fails, and `source` must be
 * checked again.
 */
final case class Comparison(
    source: Expression,
    left: Expression,
    operator: Operator,
    right: Expression,
    exact: Boolean
) extends Conjunct {

  /** The key expressions of (build, probe) and the operator between them in that order. */
  def oriented(buildSide: BuildSide): (Expression, Operator, Expression) = buildSide match {
    case BuildLeft => (left, operator, right)
    case BuildRight => (right, operator.flipped, left)
  }

  /** Whether a key is a sum that fails beyond a limit. */
  def isBounded: Boolean = Seq(left, right).exists(_.isInstanceOf[BoundedSum])
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
