package thetajoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec
import org.apache.spark.sql.execution.thetabridge.Collected
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

import thetajoin.relation.{RepeatableRows, ThetaBroadcastMode}

/**
 * Gives the rows below a broadcast so that they can be read again, if the driver's heap is too full for a relation of
 * them. They are computed again, except for rows of a shuffle or a cached table: the heap could not hold them a
 * second time.
 */
final case class RepeatableRowsExec(child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "RepeatableRows"
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override def executeCollectIterator(): (Long, Iterator[InternalRow]) = {
    val collected = Collected.of(child)
    (collected.count, new RepeatableRows(collected.rows, () => Collected.of(child).rows))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): RepeatableRowsExec =
    copy(child = newChild)
}

/**
 * Puts a [[RepeatableRowsExec]] below each of our broadcasts, and a [[SieveExec]] below that where the index keeps
 * fewer rows than it is given.
 */
object BuildRows extends Rule[SparkPlan] {
  override def apply(plan: SparkPlan): SparkPlan = plan.transform {
    case exchange @ BroadcastExchangeExec(mode: ThetaBroadcastMode, child)
        if !child.isInstanceOf[RepeatableRowsExec] =>
      val rows = if (mode.hasSieve) SieveExec(mode.spec, mode.keys, child) else child
      exchange.withNewChildren(Seq(RepeatableRowsExec(rows)))
  }
}
