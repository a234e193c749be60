package thetajoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * Ends the generated stage below a join, so that the join owns its loop over probe rows: it can then stop after any
 * row of its output, repartition its input, and append build rows.
 */
final case class ProbeRowsExec(child: SparkPlan) extends RowsInPlace {
  override def output: Seq[Attribute] = child.output
  override protected def doExecute(): RDD[InternalRow] = child.execute()
  override protected def withNewChildInternal(newChild: SparkPlan): ProbeRowsExec =
    copy(child = newChild)
}

/** A node whose rows stay where they are, in their order. */
trait RowsInPlace extends UnaryExecNode {
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
}
