package thetajoin.logical

import org.apache.spark.sql.catalyst.expressions.RowNumber
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Sort, Window}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * Joins whose rows are numbered as they arrive: Spark turns a correlated subquery's LIMIT without ORDER BY into such
 * a window over the join. Spark's own joins arrive in the order of their inputs, an index gives other orders, and the
 * query would return other rows. Parents are planned before their children, so that a join is marked when it is asked
 * for.
 */
private[thetajoin] object ArrivalOrder {
  private val matters = TreeNodeTag[Unit]("thetajoin.arrivalOrderMatters")

  def mark(window: Window): Unit =
    if (numbersAsTheyCome(window)) markJoins(window.child)

  /** Whether rows are numbered so anywhere in a plan. */
  def mattersIn(plan: LogicalPlan): Boolean = plan.exists {
    case window: Window => numbersAsTheyCome(window)
    case _ => false
  }

  def mattersTo(join: LogicalPlan): Boolean = join.getTagValue(matters).isDefined

  /** Above a sort rows come in its order: Spark keeps an ORDER BY of columns that are not selected below the window. */
  private def markJoins(plan: LogicalPlan): Unit = plan match {
    case sort: Sort if sort.global =>
    case _ =>
      plan match {
        case join @ (_: Join | _: RankedJoin) => join.setTagValue(matters, ())
        case _ =>
      }
      plan.children.foreach(markJoins)
  }

  private def numbersAsTheyCome(window: Window): Boolean =
    window.orderSpec.isEmpty && window.windowExpressions.exists(_.exists(_.isInstanceOf[RowNumber]))
}
