package thetajoin.exec

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.optimizer.BuildSide

import thetajoin.contract.Batches
import thetajoin.driver.source.{PartitionRows, PartitionSource, TaskSource}
import thetajoin.driver.unmatched.{MarkedPartitionRows, MatchMarker}
import thetajoin.relation.ThetaRelation

/** A join whose partitions have an index each, over all build rows that the partition's probe rows may match. */
trait PartitionJoin extends ThetaJoinExec {
  final override def buildSide: BuildSide = join.buildSide

  /** Probe rows and build rows, in partitions that belong together. */
  protected def sides(): (RDD[InternalRow], RDD[InternalRow])

  /** Probe rows, each partition with its relation. */
  private def partitions(): RDD[InternalRow] = {
    val (node, role) = (id, join.role)
    val relations = partitionRelation(mode)
    val marker =
      if (role.needsMatchedBuildRows)
        Some(MatchMarker.factory(task, sample, conf.wholeStageEnabled))
      else None
    val (probeRows, buildRows) = sides()
    probeRows.zipPartitions(buildRows) { (rows, ofPartition) =>
      val relation = relations.of(ofPartition)
      marker match {
        case None => new PartitionRows(relation, node, rows)
        case Some(factory) =>
          val ofTask = factory.newMarker(relation, TaskContext.getPartitionId())
          new MarkedPartitionRows(relation, node, rows, ofTask, role)
      }
    }
  }

  @transient private lazy val sample: ThetaRelation = mode.relation(Iterator.empty)

  /**
   * Rows that are best asked for together are, unless an order was promised: rows of a batch come out in another one.
   */
  override protected def batches(relation: ThetaRelation): Option[Batches] =
    if (asksTogether && outputOrdering.isEmpty) batchesOf(relation) else None

  private def source: TaskSource = new PartitionSource(sample, id, join.spec)

  override protected def doExecute(): RDD[InternalRow] = interpreted(partitions(), source)

  override def inputRDDs(): Seq[RDD[InternalRow]] = Seq(partitions())

  override def supportCodegen: Boolean = task.hasCode

  override def needCopyResult: Boolean = false

  override protected def doProduce(ctx: CodegenContext): String = produceOwnLoop(ctx, source)
}
