package thetajoin.planner

import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  NonSQLExpression,
  PlanExpression,
  UserDefinedExpression
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

private[thetajoin] object Repeatable {

  /** Whether a plan gives the same rows each time it runs: files, and what is computed of their columns. */
  def apply(plan: LogicalPlan): Boolean = plan match {
    case table: LogicalRelation =>
      table.relation match {
        case files: HadoopFsRelation => RepeatableFiles(files)
        case _ => false
      }
    case _: LocalRelation | _: Range => true
    case _: Project | _: Filter | _: SubqueryAlias | _: View =>
      plan.expressions.forall(e => e.deterministic && !e.exists(isForeign)) &&
      plan.children.forall(apply)
    case _ => false
  }

  private def isForeign(e: Expression): Boolean = e match {
    case _: PlanExpression[_] | _: UserDefinedExpression | _: NonSQLExpression => true
    case _ => false
  }
}
