package thetajoin.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.thetabridge.TaskMemory

import thetajoin.relation.{MeasuredRows, ThetaBroadcastMode, ThetaRelation}

/**
 * Makes the relation of a partition in the task that joins it, and tells Spark how much memory that takes.
 *
 * @param mode says which values it is made of
 */
private[exec] final class PartitionRelation(
    mode: ThetaBroadcastMode,
    indexRows: SQLMetric,
    indexBytes: SQLMetric,
    buildTime: SQLMetric
) extends Serializable {

  def of(rows: Iterator[InternalRow]): ThetaRelation = {
    val memory = TaskMemory.ofRunningTask()
    val relation = mode.relation(new MeasuredRows(rows), memory.hold(_))
    memory.countAsPeak()
    memory.hold(relation.bytes)
    indexRows += relation.store.rows
    indexBytes += relation.bytes
    buildTime += relation.buildNanos
    relation
  }
}
