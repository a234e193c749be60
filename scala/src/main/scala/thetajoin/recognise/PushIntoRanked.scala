package thetajoin.recognise

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import thetajoin.condition.ConditionAnalysis
import thetajoin.logical.RankedJoin

/** Filters left rows before they are joined: each gives its own rows, whatever others there are. */
object PushIntoRanked extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case filter @ Filter(condition, join: RankedJoin) if filter.deterministic =>
      val (ofLeft, others) =
        ConditionAnalysis.conjuncts(condition).partition(_.references.subsetOf(join.left.outputSet))
      if (ofLeft.isEmpty) filter
      else {
        val pushed = join.copy(left = Filter(ofLeft.reduce(And(_, _)), join.left))
        others.reduceOption[Expression](And(_, _)).fold[LogicalPlan](pushed)(Filter(_, pushed))
      }
  }
}
