package thetajoin.logical

import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  InputFileBlockLength,
  InputFileBlockStart,
  InputFileName
}
import org.apache.spark.sql.catalyst.plans.LeftExistence
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * Joins above which the file is asked for that a row comes from. Spark answers by the file that the running task
 * reads at that moment: a row must come out as soon as it is read, by the task that reads it. Parents are planned
 * before their children, so that a join is marked when it is asked for.
 */
private[thetajoin] object FileOfRow {
  private val asked = TreeNodeTag[Unit]("thetajoin.fileOfRowAsked")

  def mark(plan: LogicalPlan): Unit =
    if (asks(plan)) plan.children.foreach(markJoins)

  private def asks(plan: LogicalPlan): Boolean = plan.expressions.exists(_.exists(isFileOfRow))

  /** Whether it is asked for anywhere in a plan. */
  def isAskedIn(plan: LogicalPlan): Boolean = plan.exists(asks)

  def isAskedAbove(join: LogicalPlan): Boolean = join.getTagValue(asked).isDefined

  private def markJoins(plan: LogicalPlan): Unit = plan match {
    case join: Join =>
      join.setTagValue(asked, ())
      markJoins(join.left)
      join.joinType match {
        case LeftExistence(_) =>
        case _ => markJoins(join.right)
      }
    case join: RankedJoin =>
      join.setTagValue(asked, ())
      join.children.foreach(markJoins)
    case _ => plan.children.foreach(markJoins)
  }

  private def isFileOfRow(e: Expression): Boolean = e match {
    case _: InputFileName | _: InputFileBlockStart | _: InputFileBlockLength => true
    case _ => false
  }
}
