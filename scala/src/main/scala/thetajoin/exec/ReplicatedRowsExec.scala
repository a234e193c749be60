package thetajoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/**
 * Ends the generated stage of a side that each executor reads: the tasks that join run another stage, and read all partitions of
 * this one within it.
 */
final case class ReplicatedRowsExec(child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "ReplicatedRows"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override protected def withNewChildInternal(newChild: SparkPlan): ReplicatedRowsExec =
    copy(child = newChild)
}
