package thetajoin.logical

import org.apache.spark.sql.catalyst.expressions.{EqualTo, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.JOIN

import thetajoin.Settings
import thetajoin.condition.Sides
import thetajoin.condition.rules.Rules

/**
 * Gives the conditions of joins the forms that indexes serve, and Spark's own joins too: see [[Rules]]. A join of two
 * streams stays as it is: Spark reads from its condition for how long it must keep rows.
 */
object NormalConditions extends Rule[LogicalPlan] with OrAsItIs {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!Settings.Enabled.in(conf)) plan
    else plan.transformUpWithPruning(_.containsPattern(JOIN)) {
      case join: Join if !join.children.forall(_.isStreaming) =>
        orElse(join)(c => join.copy(condition = c), join.condition)
      case join: RankedJoin => orElse(join)(c => join.copy(condition = c), join.condition)
    }

  private def orElse(join: LogicalPlan)(
      of: Option[Expression] => LogicalPlan,
      condition: Option[Expression]
  ): LogicalPlan = {
    val sides = new Sides(join.children.head.outputSet, join.children.last.outputSet)
    def isKey(e: Expression) = e match {
      case EqualTo(l, r) => sides.split(l, r)
      case _ => false
    }
    def rewritten = condition.filter(_.deterministic).map(Rules.rewritten(_, isKey))
      .filterNot(condition.contains)
    orAsItIs("the condition of a join")(rewritten.map(c => of(Some(c)))).getOrElse(join)
  }
}
