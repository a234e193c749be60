package thetajoin.stream

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan}

/** Stands for rows that need not be read, since an index of them is there. */
final case class UnreadRowsExec(output: Seq[Attribute]) extends LeafExecNode {
  override def nodeName: String = "UnreadRows"

  override protected def doExecute(): RDD[InternalRow] =
    throw new UnsupportedOperationException(s"$nodeName gives no rows")
}

private[stream] object UnreadRowsExec {

  /** Adaptive execution asks for the logical plan that a part of a plan runs. */
  def insteadOf(rows: SparkPlan): UnreadRowsExec = {
    val unread = UnreadRowsExec(rows.output)
    rows.find(_.logicalLink.isDefined).flatMap(_.logicalLink).foreach(unread.setLogicalLink)
    unread
  }
}
