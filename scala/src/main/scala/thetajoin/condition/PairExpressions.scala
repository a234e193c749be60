package thetajoin.condition

import org.apache.spark.sql.catalyst.expressions.Expression

/**
 * An expression that tells its consequences if it is true: comparisons of values. Each value reads one of its
 * children alone. None is null if the expression is true, and none can fail unless a child does.
 */
trait ImpliesComparisons extends Expression {
  def implied: Seq[(Expression, Operator, Expression)]
}

/** A number that is not below the distance of two children in the plane, or in space, apart from rounding. */
trait Distance extends Expression {

  /** The boxes around both in each dimension: the left child's first, then the right child's. */
  def spans: Seq[(Span, Span)]

  /** Of each child a number that no coordinate is above, whatever its sign. */
  def sizes: Seq[Expression]
}

/**
 * The least and the greatest value in a dimension, floating-point numbers which are the same for a point; NaN where
 * there is no distance.
 */
final case class Span(low: Expression, high: Expression)

/** A condition on both sides on which an index decides by itself, so that an index of the equality keys won't do. */
trait DecidedByIndex extends Expression

/**
 * A condition on two binary values whose test is quicker once they are prepared. An index keeps the values of the
 * build side, prepares each once, and tests its candidates.
 */
trait PairTested extends DecidedByIndex {
  def left: Expression
  def right: Expression
  def test: PairTest
}

/** Implemented by case classes over constants. */
trait PairTest extends Serializable {

  /**
   * The form of a value that `holds` reads; shared by tasks.
   *
   * @param isLeft whether it is the left value
   * @param isReused whether it will be tested many times
   */
  def prepare(value: Array[Byte], isLeft: Boolean, isReused: Boolean): AnyRef

  /**
   * Whether the condition is true of a value that is not prepared and one that is: 1 if it is, 0 if not, and -1 if
   * that can't be told, or not any quicker.
   *
   * @param isLeft whether the first is the left value
   */
  def quick(value: Array[Byte], other: AnyRef, isLeft: Boolean): Int = -1

  /** Whether the condition is true. It may raise the error that the condition raises. */
  def holds(left: AnyRef, right: AnyRef): Boolean

  /** Whether it raises none. */
  def cannotFail: Boolean
}

/** An expression that raises no error but where a child does. */
trait NeverFails extends Expression

/**
 * A condition on both sides, or a value by which matches are ordered, that only an index answers: it can't be evaluated
 * on a pair of rows. It stands in for one that Spark evaluates by an operator of its own, and not in a join.
 */
trait FoundByIndex extends DecidedByIndex {

  /** The expression that it stands in for. */
  def original: Expression
}

object FoundByIndex {
  def isIn(condition: Expression): Boolean = condition.exists(_.isInstanceOf[FoundByIndex])
}
