package thetajoin.exec

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.{RDD, UnionRDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.BroadcastQueryStageExec
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec

import thetajoin.Yardsticks
import thetajoin.codegen.ExpressionCode
import thetajoin.contract.Batches
import thetajoin.driver.source.{BroadcastSource, TaskSource}
import thetajoin.driver.unmatched.{BuildTailRdd, MatchMarker}
import thetajoin.driver.{Existence, JoinRole, ProbeRepartition, ThetaJoin}
import thetajoin.relation.ThetaRelation

/**
 * A join whose build side is broadcast with an index over it. It extends Spark's nested loop join because adaptive
 * execution accepts no other class of node above a broadcast that already ran (ValidateSparkPlan), and would
 * silently stop re-planning the whole query. All join logic is in the driver package.
 *
 * @param condition the whole condition as Spark wrote it
 * @param sortsProbe whether probe rows come in sorted batches, if that pays for the index that is built
 */
final class BroadcastThetaJoinExec(
    left: SparkPlan,
    right: SparkPlan,
    joinType: JoinType,
    condition: Option[Expression],
    override val join: ThetaJoin,
    val repartition: ProbeRepartition,
    val sortsProbe: Boolean
) extends BroadcastNestedLoopJoinExec(left, right, join.buildSide, joinType, condition)
    with ThetaJoinExec {

  private def role: JoinRole = join.role

  // The members that a case class would have: copies, equality and canonical forms go through these.
  override def productArity: Int = 7
  override def productElement(n: Int): Any = n match {
    case 0 => left
    case 1 => right
    case 2 => joinType
    case 3 => condition
    case 4 => join
    case 5 => repartition
    case 6 => sortsProbe
  }
  override def productIterator: Iterator[Any] = Iterator.tabulate(productArity)(productElement)
  override def canEqual(other: Any): Boolean = other.isInstanceOf[BroadcastThetaJoinExec]
  override def equals(other: Any): Boolean = other match {
    case that: BroadcastThetaJoinExec =>
      (this eq that) || productIterator.sameElements(that.productIterator)
    case _ => false
  }
  override def hashCode: Int = scala.util.hashing.MurmurHash3.productHash(this)

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): BroadcastThetaJoinExec = changed(newLeft, newRight)

  private def changed(
      newLeft: SparkPlan = left,
      newRight: SparkPlan = right,
      newSortsProbe: Boolean = sortsProbe,
      newJoin: ThetaJoin = join
  ): BroadcastThetaJoinExec = {
    val changed =
      new BroadcastThetaJoinExec(
        newLeft,
        newRight,
        joinType,
        condition,
        newJoin,
        repartition,
        newSortsProbe
      )
    changed.copyTagsFrom(this)
    changed
  }

  override def requiredChildDistribution: Seq[Distribution] = buildSide match {
    case BuildLeft => BroadcastDistribution(mode) :: UnspecifiedDistribution :: Nil
    case BuildRight => UnspecifiedDistribution :: BroadcastDistribution(mode) :: Nil
  }

  private def mayMoveRows: Boolean = repartition != ProbeRepartition.Never

  /** Repartitioned rows are nowhere in particular; nor are build rows that are appended. */
  override def outputPartitioning: Partitioning =
    if (mayMoveRows || role.needsMatchedBuildRows) UnknownPartitioning(0)
    else probe.outputPartitioning

  override def outputOrdering: Seq[SortOrder] =
    if (mayMoveRows || sortsProbe || role.needsMatchedBuildRows) Nil else probe.outputOrdering

  override def nodeName: String = "BroadcastThetaJoin"

  override def withJoin(other: ThetaJoin): BroadcastThetaJoinExec = changed(newJoin = other)

  override def output: Seq[Attribute] = folded(super.output)

  // ---- How probe rows come in -------------------------------------------------------------------

  /** Whether a probe row that has no match gives no row, and one that has gives itself. */
  def needsMatch: Boolean = role.probeExistence.contains(Existence.Matched)

  /** Whether the generated stage below ends at this join, so that it produces its own loop. */
  override def ownsLoop: Boolean = probe match {
    case _: ProbeRowsExec | InputAdapter(_: ProbeRowsExec) => true
    case _ => false
  }

  /**
   * Whether the join needs a loop of its own over probe rows, to which all their columns are copied. Rows that an
   * aggregate consumes in place come out of the probe side's loop. So do rows that leave the stage, if that loop can
   * stop after each of them, and probe rows are not sorted in batches.
   */
  def wantsOwnLoop(consumedInPlace: Boolean): Boolean =
    role.needsMatchedBuildRows || (mayMoveRows && !comesInEnoughPartitions) ||
      !consumedInPlace && (mayBeInBatches ||
        !join.oneRowAtMost && !ProbeInput.givesRowByRow(probe))

  /**
   * Whether probe rows whose matches leave the stage are sorted in batches, as far as it is known before the index is
   * built.
   */
  private def mayBeInBatches: Boolean =
    sortsProbe && (asksTogether || role.pairs && ProbeInput.areNarrow(
      probe.output
    ) && (build match {
      case stage: BroadcastQueryStageExec if stage.isMaterialized =>
        batches(relation().value).isDefined
      case _ => true
    }))

  /**
   * Whether rows that are moved only to idle cores come in enough partitions, which is then known without running
   * anything.
   */
  private def comesInEnoughPartitions: Boolean =
    repartition == ProbeRepartition.OverIdleCores &&
      ProbeInput.hasPartitions(probe, sparkContext.defaultParallelism)

  def withOwnLoop: BroadcastThetaJoinExec = {
    val isMarkedBelow = role.buildExistence.isDefined && !mayMoveRows && task.rowsTogether == 0 &&
      ExpressionCode.existsFor(expressions)
    val below = ProbeRowsExec(if (isMarkedBelow) MarkRowsExec(probe, task)(build) else probe)
    buildSide match {
      case BuildLeft => changed(newRight = below)
      case BuildRight => changed(newLeft = below)
    }
  }

  /**
   * Gives probe rows as they come: sorting them first costs more than their look-ups where each may leave the stage.
   */
  def inOrder: BroadcastThetaJoinExec = if (sortsProbe) changed(newSortsProbe = false) else this

  private[exec] def relation(): Broadcast[ThetaRelation] = build.executeBroadcast[ThetaRelation]()

  /** The partitions that the join runs on: probe rows, then the partitions that emit build rows by themselves. */
  private def joinInput(broadcast: Broadcast[ThetaRelation]): RDD[InternalRow] = {
    val marking = MarkRowsExec.below(probe)
    marking.foreach(_.mark(broadcast))
    val rows = probe.execute()
    if (marking.isDefined) BuildTailRdd(rows, broadcast, BuildTailRdd.emits(role))
    else repartitionedOrKept(rows, broadcast)
  }

  private def repartitionedOrKept(
      rows: RDD[InternalRow],
      broadcast: Broadcast[ThetaRelation]
  ): RDD[InternalRow] = {
    val cores = sparkContext.defaultParallelism
    val moves = repartition.moves(rows.getNumPartitions, cores, broadcast.value.indexed)
    // Rows that are read twice must be the same rows both times, and a shuffle keeps them.
    val keeps = role.needsMatchedBuildRows && role.pairs && !ProbeInput.isRepeatable(probe)
    val input =
      if (moves || keeps)
        RowShuffle.repartitioned(
          rows,
          probe.output.map(_.dataType),
          math.max(cores, rows.getNumPartitions)
        )
      else rows
    if (!role.needsMatchedBuildRows) input
    else {
      val relation = broadcast.value
      val marker = MatchMarker.factory(task.on(relation), relation, conf.wholeStageEnabled)
      // Rows that come from a shuffle, or come out in pairs as well, have all been read without this.
      val endsEarly = moves || role.pairs || EarlyEnd.isHidden(probe)
      val marks = BuildTailRdd.marks(input, broadcast, marker, endsEarly)
      val tail = BuildTailRdd(marks, broadcast, BuildTailRdd.emits(role))
      if (role.pairs) new UnionRDD(sparkContext, Seq(input, tail)) else tail
    }
  }

  // ---- The interpreted path ---------------------------------------------------------------------

  override protected def doExecute(): RDD[InternalRow] =
    interpreted(joinInput(relation()), source())

  // ---- Whole-stage code -------------------------------------------------------------------------

  override def supportCodegen: Boolean =
    task.hasCode && (ownsLoop || !role.needsMatchedBuildRows)

  /**
   * A loop that stops after each row gives one at a time. Other loops give all rows of a probe row, or of a batch, at
   * once.
   */
  override def needCopyResult: Boolean = !ownsLoop && !stops

  /**
   * Whether the probe side's loop can stop after each row: it stops after each of its own rows, and a batch reads
   * many.
   */
  private def stops: Boolean = !sortsProbe && !probe.asInstanceOf[CodegenSupport].needCopyResult

  override def inputRDDs(): Seq[RDD[InternalRow]] =
    if (ownsLoop) Seq(joinInput(relation())) else probe.asInstanceOf[CodegenSupport].inputRDDs()

  override protected def batches(relation: ThetaRelation): Option[Batches] =
    if (
      sortsProbe && role.buildExistence.isEmpty &&
      (asksTogether || relation.index.bytes >= Yardsticks.SortedIndexBytes())
    ) batchesOf(relation)
    else None

  private def source(): TaskSource = {
    val broadcast = relation()
    postBuildMetrics(broadcast.value)
    new BroadcastSource(broadcast)
  }

  override def doProduce(ctx: CodegenContext): String =
    if (!ownsLoop) produceFused(ctx, probe)
    else produceOwnLoop(ctx, source())

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String =
    consumeFused(ctx, source(), input, stops)
}
