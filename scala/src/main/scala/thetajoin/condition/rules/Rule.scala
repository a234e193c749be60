package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions.Expression

import thetajoin.condition.Operator

/** How conditions are read, and why that is right. The documentation of conditions is made from these. */
trait Rule {

  /** For example. */
  def readings: Seq[Reading]

  /** Why that is right, in a sentence. */
  def proof: String
}

/** A condition of sides `a` and `b`, and the condition that it is read as, in SQL. */
final case class Reading(form: String, becomes: String)

/** Tells values that bound a value of both sides from below or from above. */
trait ValueRule extends Rule {

  /**
   * None if the rule does not know the expression.
   *
   * @param of the bounds of an operand, which may be the operand itself
   */
  def bounds(e: Expression, end: End, of: (Expression, End) => Seq[Bounding]): Option[Seq[Bounding]]
}

/** Tells what a comparison of values implies. */
trait ComparisonRule extends Rule {

  /** None if the rule does not know the values. `operator` is one that has `l` as the lower value. */
  def implied(l: Expression, operator: Operator, r: Expression): Option[Expression]
}

/** Gives a condition another form, which is true for the same rows. It may be null where the other form is false. */
trait ConditionRule extends Rule {

  /** None if the rule does not know the expression. */
  def rewritten(condition: Expression): Option[Expression]
}

/** Tells what a condition implies in a form that is served, where the condition itself has to be tested as well. */
trait FormRule extends Rule {

  /** None if the rule does not know the condition. */
  def implied(condition: Expression): Option[Expression]
}

/** The end from which a value is bounded. */
sealed trait End {
  def opposite: End
}

object End {
  case object Below extends End { override def opposite: End = Above }
  case object Above extends End { override def opposite: End = Below }
}

/**
 * A value that bounds another one. Where the other one is not null and no condition of `unless` is true, it is not
 * null either, and not beyond the other one.
 */
final case class Bounding(value: Expression, unless: Seq[Expression] = Nil) {
  def butFor(conditions: Seq[Expression]): Bounding = copy(unless = unless ++ conditions)
}
