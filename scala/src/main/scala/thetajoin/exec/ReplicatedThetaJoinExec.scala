package thetajoin.exec

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.optimizer.{BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, JoinType}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.thetabridge.Broadcasts

import thetajoin.driver._
import thetajoin.relation.ThetaBroadcastMode

/**
 * An existence join whose right side is a few small files: each executor that joins reads them for itself, in the first task that
 * asks. A broadcast would be a job ahead of that, and adaptive execution would plan the rest of the query after it.
 *
 * @param condition the whole condition as Spark wrote it
 * @param right a [[ReplicatedRowsExec]]
 */
final case class ReplicatedThetaJoinExec(
    left: SparkPlan,
    right: SparkPlan,
    joinType: JoinType,
    condition: Option[Expression],
    indexed: Seq[Expression],
    probeKeys: Seq[Expression],
    probeFilter: Option[Expression],
    mode: ThetaBroadcastMode
) extends ThetaJoinExec {
  override def nodeName: String = "ReplicatedThetaJoin"
  override def buildSide: BuildSide = BuildRight
  override def residual: Seq[Expression] = Nil
  override def leftKeys: Seq[Expression] = Nil
  override def rightKeys: Seq[Expression] = Nil
  override def outputPartitioning: Partitioning = left.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = left.outputOrdering

  override def output: Seq[Attribute] = joinType match {
    case marks: ExistenceJoin => left.output :+ marks.exists
    case _ => left.output
  }

  /**
   * The right side's RDD is begun while the driver makes the left side's: each takes it some milliseconds, as it broadcasts how to
   * read files. `source` then finds it, waits for it, or makes it.
   */
  override protected def doPrepare(): Unit =
    SQLExecution.withThreadLocalCaptured(session, Broadcasts.threads())(right.execute())

  @transient private lazy val source: ReplicatedSource = {
    val (rows, ofBuild) = (right.execute(), boundMode)
    val (partitions, relations) = (rows.partitions, partitionRelation(ofBuild.relation))
    val relation = ReplicatedRelation { () =>
      relations.made(partitions.iterator.flatMap(rows.iterator(_, TaskContext.get())))
    }
    new ReplicatedSource(
      sparkContext.broadcast(relation),
      ofBuild.relation(Iterator.empty),
      rows,
      relations.count
    )
  }

  override protected def doExecute(): RDD[InternalRow] = interpreted(left.execute(), source)

  override def inputRDDs(): Seq[RDD[InternalRow]] = left.asInstanceOf[CodegenSupport].inputRDDs()

  override def needCopyResult: Boolean = left.asInstanceOf[CodegenSupport].needCopyResult

  override protected def doProduce(ctx: CodegenContext): String = {
    inputRDDs() // which their nodes keep, before the code asks for those of the right side
    produceFused(ctx, left)
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String =
    consumeFused(ctx, source, input)

  override protected def doCanonicalize(): SparkPlan =
    super.doCanonicalize().asInstanceOf[ReplicatedThetaJoinExec].copy(mode = boundMode)

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): ReplicatedThetaJoinExec = copy(left = newLeft, right = newRight)
}
