package thetajoin.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.thetabridge.TaskMemory

import thetajoin.planner.TaskShare
import thetajoin.relation.{MeasuredRows, ThetaRelation}

/**
 * Makes the relation of a partition in the task that joins it, and tells Spark what memory that takes.
 *
 * @param build makes it of the partition's rows
 */
private[exec] final class PartitionRelation(
    build: Iterator[InternalRow] => ThetaRelation,
    indexRows: SQLMetric,
    indexBytes: SQLMetric,
    buildTime: SQLMetric
) extends Serializable {

  def of(rows: Iterator[InternalRow]): ThetaRelation = {
    val memory = TaskMemory.ofRunningTask()
    val relation = build(new PartitionRelation.HeldRows(rows, memory))
    memory.countAsPeak()
    memory.hold(relation.bytes)
    indexRows += relation.store.rows
    indexBytes += relation.bytes
    buildTime += relation.buildNanos
    relation
  }
}

private object PartitionRelation {

  /** Memory is asked for in such steps of bytes of rows. */
  private val Step = 1L << 20

  private final class HeldRows(input: Iterator[InternalRow], memory: TaskMemory)
      extends MeasuredRows(input) {
    private var held = 0L

    override def next(): InternalRow = {
      val row = super.next()
      if (bytes > held) {
        held = bytes + Step
        memory.hold(TaskShare.BuildFactor * held)
      }
      row
    }
  }
}
