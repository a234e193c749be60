package thetajoin.kit

import org.apache.spark.sql.catalyst.expressions.{BitwiseNot, Expression}
import org.apache.spark.sql.catalyst.optimizer.BuildSide
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.DataType

import thetajoin.condition.{Comparison, Operator, OrderedLong}

/**
 * A comparison as a bound that a probe row sets to a value of build rows. Both are numbers of 64 bits in the order of
 * the compared values.
 *
 * {{{
 *   a.t >= b.lo, b built     b.lo is below the bound a.t, and may equal it      isLower = false, strict = false
 *   a.t >= b.lo, a built     a.t is above the bound b.lo, and may equal it      isLower = true, strict = false
 * }}}
 *
 * @param source the conjunct, as Spark wrote it
 * @param build the value
 * @param probe the bound
 * @param isLower whether the build value must be above the bound, not below it
 * @param strict whether it must not equal the bound
 * @param equivalent see [[Comparison.equivalent]]
 * @param exact see [[Comparison.exact]]
 * @param numbersOf the type of the compared values, if equal values of this type have equal numbers in any comparison
 */
final case class Bound(
    source: Expression,
    build: Expression,
    probe: Expression,
    isLower: Boolean,
    strict: Boolean,
    equivalent: Boolean,
    exact: Boolean,
    numbersOf: Option[DataType]
) {

  /** The build and the probe value of the same condition as a lower bound. */
  def ascending: (Expression, Expression) =
    if (isLower) (build, probe) else (BitwiseNot(build), BitwiseNot(probe))

  /** Whether the other bounds from the opposite end. */
  def isOpposite(other: Bound): Boolean = isLower != other.isLower

  /** Whether both are the same number of the probe row, from both ends. */
  def isSamePoint(other: Bound): Boolean = isOpposite(other) && probe.semanticEquals(other.probe)

  /** Whether both bound an interval of the same line, each from its end. */
  def isOnLineOf(other: Bound): Boolean =
    isOpposite(other) && numbersOf.isDefined && numbersOf == other.numbersOf
}

object Bound {

  /** The bound that a comparison is if this side is built. None if the compared values don't fit 64 bits. */
  def of(c: Comparison, buildSide: BuildSide): Option[Bound] =
    if (areNumbers(c.left, c.right))
      Some(of(c, buildSide, OrderedLong.of, numbersOf = Some(c.left.dataType)))
    else None

  /** The same of values of any ordered type: see [[ValueRank]]. */
  def ofAnyType(c: Comparison, buildSide: BuildSide): Option[Bound] =
    of(c, buildSide).orElse {
      if (ValueOrder.isShared(c.left.dataType, c.right.dataType))
        Some(of(c, buildSide, ValueRank(_), numbersOf = None))
      else None
    }

  private def of(
      c: Comparison,
      buildSide: BuildSide,
      number: Expression => Expression,
      numbersOf: Option[DataType]
  ): Bound = {
    val (build, operator, probe) = c.oriented(buildSide)
    val (isLower, strict) = operator match {
      case Operator.Greater => (true, true)
      case Operator.GreaterOrEqual => (true, false)
      case Operator.Less => (false, true)
      case Operator.LessOrEqual => (false, false)
    }
    Bound(
      c.source,
      number(build),
      number(probe),
      isLower,
      strict,
      equivalent = c.equivalent,
      exact = c.exact,
      numbersOf
    )
  }

  /** Whether values of both are compared as their [[OrderedLong]]s are. */
  def areNumbers(l: Expression, r: Expression): Boolean =
    DataTypeUtils.sameType(l.dataType, r.dataType) && OrderedLong.orders(l.dataType)
}
