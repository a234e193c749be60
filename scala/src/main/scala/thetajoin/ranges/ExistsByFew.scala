package thetajoin.ranges

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateFunction, Max, Min}
import org.apache.spark.sql.catalyst.optimizer.BuildLeft
import org.apache.spark.sql.catalyst.plans.LeftExistence
import org.apache.spark.sql.catalyst.plans.logical._

import thetajoin.condition._
import thetajoin.kit.Bound

/**
 * Whether a left row has a match is known by few of the right rows, if one or two comparisons ask for it: by the one with the greatest or the least value, or by those of
 * which no other is better in both values.
 *
 * {{{
 *   EXISTS (SELECT 1 FROM r WHERE l.x < r.y)                  =  l.x < (SELECT max(y) FROM r)
 *   EXISTS (SELECT 1 FROM r WHERE l.x < r.y AND l.u > r.v)    =  the same of the rows of r that are undominated(y, -v)
 * }}}
 *
 * Of two comparisons each task leaves out what it can tell. The others are shuffled, so that adaptive execution knows how many they are before it plans the join.
 * Rows with the same values go to the same partition: a task that is run again may keep another row of these.
 */
private[ranges] object ExistsByFew {
  def apply(join: Join): Option[LogicalPlan] = join.joinType match {
    case LeftExistence(_) =>
      val shape =
        ConditionAnalysis.shape(join.left.output, join.right.output, join.joinType, join.condition)
      val (oneSided, paired) = shape.conjuncts.partition(_.isInstanceOf[OneSided])
      val compared = paired.collect { case c: Comparison if isPlain(c) => c }
      val (ofLeft, ofRight) =
        oneSided.collect { case one: OneSided => one }.partition(_.side == BuildLeft)
      lazy val rows = ofRight.map(_.source).foldLeft(join.right)((rows, c) => Filter(c, rows))
      compared match {
        case Seq(one) if paired.size == 1 => Some(byExtreme(join, one, ofLeft.map(_.source), rows))
        case Seq(one, other)
            if paired.size == 2 && compared.forall(areNumbers) && !isPointInInterval(one, other) =>
          Some(LargeJoins.done(join.copy(right = undominated(rows, Seq(one, other).map(goodness)))))
        case _ => None
      }
    case _ => None
  }

  private def byExtreme(
      join: Join,
      compared: Comparison,
      ofLeft: Seq[Expression],
      rows: LogicalPlan
  ): LogicalPlan = {
    val value = Alias(compared.right, "value")()
    val extreme = Alias(best(compared)(value.toAttribute).toAggregateExpression(), "extreme")()
    val one = Aggregate(Nil, Seq(extreme), Project(Seq(value), rows))
    val condition = compared.operator.of(compared.left, extreme.toAttribute)
    // No pair, and no error of one, where there is no right value.
    val some = Filter(IsNotNull(extreme.toAttribute), one)
    join.copy(right = some, condition = Some((ofLeft :+ condition).reduceLeft(And(_, _))))
  }

  /** Whether it is the conjunct itself, and whether it is known of a right row what it asks of a left one. */
  private def isPlain(compared: Comparison): Boolean =
    Safety.cannotFail(compared.right) && (compared.source match {
      case BinaryComparison(one, other) =>
        Seq(one -> other, other -> one).contains(compared.left -> compared.right)
      case _ => false
    })

  private def best(compared: Comparison): Expression => AggregateFunction =
    if (isAscending(compared)) Max(_) else Min(_)

  /** Whether a greater right value matches more. */
  private def isAscending(compared: Comparison): Boolean = compared.operator match {
    case Operator.Less | Operator.LessOrEqual => true
    case Operator.Greater | Operator.GreaterOrEqual => false
  }

  /** There hardly a row beats another in both values. */
  private def isPointInInterval(one: Comparison, other: Comparison): Boolean =
    isAscending(one) != isAscending(other) &&
      (one.left.semanticEquals(other.left) || one.right.semanticEquals(other.right))

  private def areNumbers(compared: Comparison): Boolean =
    Bound.areNumbers(compared.left, compared.right)

  private def goodness(compared: Comparison): Expression = {
    val value = OrderedLong.of(compared.right)
    if (isAscending(compared)) value else BitwiseNot(value)
  }

  private def undominated(rows: LogicalPlan, values: Seq[Expression]): LogicalPlan =
    RepartitionByExpression(values, Filter(Undominated(values.head, values(1)), rows), None)
}
