package thetajoin.recognise

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.rules.Rule

import thetajoin.condition.{ConditionAnalysis, Operator, OrderedBy, Sides}
import thetajoin.planner.{Planner, RankedJoin}
import thetajoin.{InvalidSettingException, Settings}

/**
 * Turns Spark's ASOF joins, which its optimizer would rewrite as a subquery for each left row, into [[RankedJoin]]s. It runs between
 * the analyzer and the optimizer, and on plans of cached tables.
 */
object RecogniseAsOf extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!Settings.Enabled.in(conf) || plan.isStreaming) plan
    else plan.transformUpWithSubqueries {
      case join: AsOfJoin if join.resolved && isPure(join) => ranked(join).getOrElse(join)
    }

  /** A failure of ours leaves the join to Spark. */
  private def ranked(join: AsOfJoin): Option[LogicalPlan] =
    try {
      val condition = join.condition.map(And(_, join.asOfCondition)).getOrElse(join.asOfCondition)
      val ranked =
        RankedJoin(join.left, join.right, join.joinType, Some(condition), rank(join), k = 1)
      if (shareColumns(join) || Planner.choose(ranked, conf).chosen.isEmpty) None else Some(ranked)
    } catch {
      case e: InvalidSettingException => throw e
      case NonFatal(e) =>
        logWarning("thetajoin: an ASOF join is left to Spark", e)
        None
    }

  /**
   * Whether the sides are made of the same columns somewhere, which Spark's analyzer avoids. Its optimizer drops aliases that keep a
   * name: it takes care within a Join, but not here, where both sides could end up with one column.
   */
  private def shareColumns(join: AsOfJoin): Boolean = {
    def columns(side: LogicalPlan) = AttributeSet(side.collect { case node => node.output }.flatten)
    columns(join.left).intersect(columns(join.right)).nonEmpty
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
