package thetajoin.large

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans.LeftExistence
import org.apache.spark.sql.catalyst.plans.logical._

import thetajoin.condition.{Comparison, ConditionAnalysis, Conjunct, OneSided, OrderedLong, Safety}
import thetajoin.kit.Bound

/**
 * Few of the right rows tell whether a left row has a match, if one or two comparisons decide on it: the row with the
 * greatest or the least value, or the rows that no other row beats in both values.
 *
 * {{{
 *   EXISTS (SELECT 1 FROM r WHERE l.x < r.y)                  =  l.x < (SELECT max(y) FROM r)
 *   EXISTS (SELECT 1 FROM r WHERE l.x < r.y AND l.u > r.v)    =  the same of the rows of r that are undominated(y, -v)
 * }}}
 *
 * With two comparisons each task leaves out the beaten rows that it can tell. The others are shuffled, so that
 * adaptive execution knows how many they are before it plans the join. Rows with the same values go to the same
 * partition: a task that is run again may keep another row of these.
 */
private[thetajoin] object ExistsByFew {
  def apply(join: Join): Option[LogicalPlan] = join.joinType match {
    case LeftExistence(_) =>
      val shape =
        ConditionAnalysis.shape(join.left.output, join.right.output, join.joinType, join.condition)
      val (ofRight, others) = shape.conjuncts.partition {
        case OneSided(_, side) => side == BuildRight
        case _ => false
      }
      def rows = ofRight.map(_.source).foldLeft(join.right)((rows, c) => Filter(c, rows))
      val compared = others.filterNot(_.source.references.subsetOf(join.left.outputSet)) match {
        case conjuncts if conjuncts.forall(isPlain) => conjuncts.collect { case c: Comparison => c }
        case _ => Nil
      }
      compared match {
        case Seq(one) => Some(byExtreme(join, others, one, rows))
        case Seq(one, other)
            if compared.forall(areNumbers) && !isPointInInterval(one, other) &&
              !LargeJoins.isMeasured(join) =>
          val values = compared.map(goodness)
          Some(join.copy(right = undominated(rows, values)))
        case _ => None
      }
    case _ => None
  }

  private def byExtreme(
      join: Join,
      conjuncts: Seq[Conjunct],
      compared: Comparison,
      rows: LogicalPlan
  ): LogicalPlan = {
    val value = Alias(compared.right, "value")()
    val extreme = Alias(Extreme(compared.operator, value.toAttribute), "extreme")()
    val one = Aggregate(Nil, Seq(extreme), Project(Seq(value), rows))
    // No pair, and no error of one, where there is no right value.
    val some = Filter(IsNotNull(extreme.toAttribute), one)
    val condition = conjuncts.map { conjunct =>
      if (conjunct eq compared) compared.operator.of(compared.left, extreme.toAttribute)
      else conjunct.source
    }
    join.copy(right = some, condition = condition.reduceOption(And(_, _)))
  }

  /** Whether it is the conjunct itself, and whether the value that it compares is known of a right row. */
  private def isPlain(conjunct: Conjunct): Boolean = conjunct match {
    case Comparison(BinaryComparison(one, other), left, _, right, _) =>
      Safety.cannotFail(right) && Seq(one -> other, other -> one).contains(left -> right)
    case _ => false
  }

  /** There hardly a row beats another in both values. */
  private def isPointInInterval(one: Comparison, other: Comparison): Boolean =
    one.operator.isBelow != other.operator.isBelow &&
      (one.left.semanticEquals(other.left) || one.right.semanticEquals(other.right))

  private def areNumbers(compared: Comparison): Boolean =
    Bound.areNumbers(compared.left, compared.right)

  private def goodness(compared: Comparison): Expression = {
    val value = OrderedLong.of(compared.right)
    if (compared.operator.isBelow) value else BitwiseNot(value)
  }

  private def undominated(rows: LogicalPlan, values: Seq[Expression]): LogicalPlan =
    RepartitionByExpression(values, Filter(Undominated(values.head, values(1)), rows), None)
}
