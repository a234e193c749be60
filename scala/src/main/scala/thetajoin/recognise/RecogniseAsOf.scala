package thetajoin.recognise

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.rules.Rule

import thetajoin.Settings
import thetajoin.condition.{ConditionAnalysis, Operator, OrderedBy, Sides}
import thetajoin.planner.{Planner, RankedJoin}

/**
 * Turns Spark's ASOF joins, which its optimizer would rewrite as a subquery for each left row, into [[RankedJoin]]s. It runs between
 * the analyzer and the optimizer, and on plans of cached tables.
 */
object RecogniseAsOf extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!Settings.Enabled.in(conf) || plan.isStreaming) plan
    else plan.transformUpWithSubqueries {
      case join: AsOfJoin if join.resolved && isPure(join) =>
        val condition = join.condition.map(And(_, join.asOfCondition)).getOrElse(join.asOfCondition)
        val ranked =
          RankedJoin(join.left, join.right, join.joinType, Some(condition), rank(join), k = 1)
        if (Planner.choose(ranked, conf).chosen.isDefined) ranked else join
    }

  private def isPure(join: AsOfJoin): Boolean = {
    val isKnown = join.joinType match {
      case Inner | LeftOuter => true
      case _ => false
    }
    isKnown && RowOrdering.isOrderable(rank(join).dataType) && join.expressions.forall { e =>
      e.deterministic && !e.exists {
        case _: PlanExpression[_] | _: PythonUDF => true
        case _ => false
      }
    }
  }

  /**
   * Of the rows below or above a bound the one next to it: the value alone orders them, and no difference has to be computed, which might
   * overflow. Without such a bound by what Spark orders them.
   */
  private def rank(join: AsOfJoin): SortOrder = {
    val sides = new Sides(join.left.outputSet, join.right.outputSet)
    ConditionAnalysis.conjuncts(join.asOfCondition).headOption match {
      case Some(OrderedBy(l, operator, r)) if sides.ofLeft(l) && sides.ofRight(r) =>
        val isFromBelow = operator == Operator.Less || operator == Operator.LessOrEqual
        SortOrder(r, if (isFromBelow) Ascending else Descending)
      case _ => SortOrder(join.orderExpression, Ascending)
    }
  }
}
