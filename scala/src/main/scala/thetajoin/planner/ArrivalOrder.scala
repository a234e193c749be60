package thetajoin.planner

import org.apache.spark.sql.catalyst.expressions.RowNumber
import org.apache.spark.sql.catalyst.plans.logical.{Join, Window}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * Joins whose rows are numbered as they arrive: Spark turns a correlated subquery's LIMIT without ORDER BY into such
 * a window over the join. Spark's own joins arrive in the order of their inputs, an index gives other orders, and the
 * query would return other rows. Parents are planned before their children, so that a join is marked when it is asked for.
 */
private[thetajoin] object ArrivalOrder {
  private val matters = TreeNodeTag[Unit]("thetajoin.arrivalOrderMatters")

  def mark(window: Window): Unit =
    if (window.orderSpec.isEmpty && numbersRows(window))
      window.child.foreach {
        case join: Join => join.setTagValue(matters, ())
        case _ =>
      }

  def mattersTo(join: Join): Boolean = join.getTagValue(matters).isDefined

  private def numbersRows(window: Window): Boolean =
    window.windowExpressions.exists(_.exists(_.isInstanceOf[RowNumber]))
}
