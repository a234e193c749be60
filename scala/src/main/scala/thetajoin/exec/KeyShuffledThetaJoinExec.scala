package thetajoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.optimizer.BuildSide
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, JoinType}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution._

import thetajoin.driver._

/**
 * An existence join whose right side is not known to be small. The keys of the right side are shuffled first. If they
 * turn out to be small they are broadcast and the left side stays where it is, as in [[BroadcastThetaJoinExec]]. Otherwise
 * the left side is shuffled by key too, and each partition has an index of its own.
 *
 * @param condition the whole condition as Spark wrote it
 * @param right a [[KeyShuffleExec]]
 * @param broadcastLimit the bytes of keys up to which they are broadcast
 */
final case class KeyShuffledThetaJoinExec(
    left: SparkPlan,
    right: SparkPlan,
    joinType: JoinType,
    condition: Option[Expression],
    join: ThetaJoin,
    broadcastLimit: Long
) extends ThetaJoinExec {
  override def nodeName: String = "KeyShuffledThetaJoin"
  override def buildSide: BuildSide = join.buildSide
  override def leftKeys: Seq[Expression] = Nil
  override def rightKeys: Seq[Expression] = Nil

  override def output: Seq[Attribute] = joinType match {
    case marks: ExistenceJoin => left.output :+ marks.exists
    case _ => left.output
  }

  // ---- Where the keys are -----------------------------------------------------------------------

  @transient private lazy val keys: ShuffledKeys = {
    val shuffle = right match {
      case InputAdapter(below) => below
      case below => below
    }
    shuffle.asInstanceOf[KeyShuffleExec].keys
  }

  @transient private lazy val areSmall: Boolean = keys.fit(broadcastLimit)

  @transient private lazy val broadcast: BroadcastSource = {
    val relation = keys.ofKeys.relation(keys.collect())
    postBuildMetrics(relation)
    new BroadcastSource(sparkContext.broadcast(relation))
  }

  private def ofPartition: TaskSource =
    new PartitionSource(keys.ofKeys.relation(Iterator.empty), id, join.spec)

  /** By Spark's estimate; without one they may be many. */
  private def probeBytes: BigInt =
    left.collectFirst(Function.unlift(_.logicalLink))
      .fold(BigInt(Long.MaxValue))(_.stats.sizeInBytes)

  /** Partitions of [[PartitionRows]]. */
  private def coPartitioned(rows: RDD[InternalRow]): RDD[InternalRow] = {
    val keyRows = keys.inPartitionsOf(KeyShuffledThetaJoinExec.LargestPartition)
    val partitions = keyRows.getNumPartitions
    val (expressions, output, node) = (join.probeKeys, left.output, id)
    val relations = partitionRelation(keys.ofKeys)
    val probe = RowShuffle.write(rows, output.map(_.dataType), partitions) { () =>
      val project = UnsafeProjection.create(expressions, output)
      row => {
        val key = project(row)
        if (key.anyNull) row.hashCode else key.hashCode
      }
    }
    val (probeRows, keysBeside) = SkewedPartitions.aligned(probe, probeBytes, keyRows, conf)
    probeRows.zipPartitions(keysBeside) { (rows, ofPartition) =>
      new PartitionRows(relations.of(ofPartition), node, rows)
    }
  }

  // ---- The interpreted path ---------------------------------------------------------------------

  override protected def doExecute(): RDD[InternalRow] =
    if (areSmall) interpreted(left.execute(), broadcast)
    else interpreted(coPartitioned(left.execute()), ofPartition)

  // ---- Whole-stage code -------------------------------------------------------------------------

  override def inputRDDs(): Seq[RDD[InternalRow]] = left match {
    case fused: CodegenSupport if areSmall => fused.inputRDDs()
    case ended: InputAdapter => Seq(coPartitioned(ended.execute()))
    // It was to be fused into this stage, and becomes one of its own.
    case fused => Seq(coPartitioned(stageOf(fused).execute()))
  }

  /** A node takes its session from the thread that makes it, and this thread may have none. */
  private def stageOf(fused: SparkPlan): SparkPlan = {
    val before = SparkSession.getActiveSession
    SparkSession.setActiveSession(session)
    try WholeStageCodegenExec(fused)(KeyShuffledThetaJoinExec.NoStageId)
    finally before.fold(SparkSession.clearActiveSession())(SparkSession.setActiveSession)
  }

  override def needCopyResult: Boolean =
    areSmall && left.asInstanceOf[CodegenSupport].needCopyResult

  override protected def doProduce(ctx: CodegenContext): String =
    if (areSmall) produceFused(ctx, left)
    else produceOwnLoop(ctx, ofPartition)

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String =
    consumeFused(ctx, broadcast, input, stops = false)

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): KeyShuffledThetaJoinExec = copy(left = newLeft, right = newRight)
}

private object KeyShuffledThetaJoinExec {

  /** A stage that is made while the query runs stands in no plan. */
  val NoStageId: Int = 0

  /** Bytes of keys in one partition, of which the index and its building take a multiple. */
  val LargestPartition: Long = 32L << 20
}
