package thetajoin.hints

import org.apache.spark.sql.catalyst.expressions.SubqueryExpression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.{TreeNode, TreeNodeTag}

/**
 * Notes of a block of a query that must not change its plan, as a hint on a join would: Spark leaves such a join
 * where it stands. They are on every node of the block and, where it is parsed only, on its conditions: the optimizer
 * hands a node's tags to the one it puts in its place, and keeps conditions where it makes joins anew.
 */
private[thetajoin] object HintNotes {
  private val tag = TreeNodeTag[Seq[String]]("thetajoin.hintNotes")

  /** The plan may belong to a DataFrame, and other queries share its nodes and expressions. */
  def on(plan: LogicalPlan, notes: Seq[String]): LogicalPlan =
    if (notes.isEmpty) plan
    else {
      val block = plan.clone()
      note(block, notes)
      block
    }

  private def note(block: LogicalPlan, notes: Seq[String]): Unit =
    block.foreach { node =>
      add(node, notes)
      if (!node.resolved)
        node.expressions.foreach(_.foreach {
          case subquery: SubqueryExpression => note(subquery.plan, notes)
          // Attributes and constants are shared once they are resolved.
          case e => if (e.children.nonEmpty) add(e, notes)
        })
    }

  /** On a node alone, which has such notes in whatever plan it stands. */
  def add(node: TreeNode[_], notes: Seq[String]): Unit =
    if (notes.nonEmpty) node.setTagValue(tag, (noted(node) ++ notes).distinct)

  def of(node: LogicalPlan): Seq[String] =
    noted(node) ++ node.expressions.flatMap(_.collect { case e => noted(e) }.flatten)

  private def noted(node: TreeNode[_]): Seq[String] = node.getTagValue(tag).getOrElse(Nil)
}
