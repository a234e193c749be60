package thetajoin.exec

import org.apache.spark.sql.catalyst.expressions.aggregate.Complete
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.joins.BaseJoinExec

import thetajoin.contract.Batches
import thetajoin.driver.{JoinMetrics, JoinTask, ThetaJoin}
import thetajoin.relation.{ThetaBroadcastMode, ThetaRelation}

/** The common part of our join nodes: the decision that they run, and how it is told. */
trait ThetaJoinExec extends BaseJoinExec with JoinLoops with DriverMetrics {
  def join: ThetaJoin

  def buildSide: BuildSide

  /** How the rows of the build side become a relation. */
  @transient final lazy val mode: ThetaBroadcastMode =
    join.mode(build.output, condition).boundTo(build.output)

  private[thetajoin] final def probe: SparkPlan = buildSide match {
    case BuildLeft => right
    case BuildRight => left
  }

  private[thetajoin] final def build: SparkPlan = buildSide match {
    case BuildLeft => left
    case BuildRight => right
  }

  /** This node for another decision. */
  def withJoin(changed: ThetaJoin): ThetaJoinExec

  /** The columns that come out: of both sides, or of the probe side and the buffers of aggregate functions. */
  protected final def folded(ofBoth: Seq[Attribute]): Seq[Attribute] =
    join.fold.fold(ofBoth)(ofBoth.filter(probe.outputSet.contains) ++ _.buffers)

  protected lazy val task: JoinTask = JoinTask(join, probe.output, join.stored(build.output))

  /** Whether it reads its probe rows in a loop of its own, and not in the loop of the operator that makes them. */
  def ownsLoop: Boolean = true

  /** Whether many probe rows are asked for at once. */
  protected final def asksTogether: Boolean =
    join.spec.batches.exists(_.rows > 0) && join.role.buildExistence.isEmpty

  protected final def batchesOf(relation: ThetaRelation): Option[Batches] =
    relation.index.newBatchProber().flatMap(_ => join.spec.batches)

  /** Whether there is generated code for the work of the driver code. */
  final def hasCode: Boolean = task.hasCode

  /** Whether rows come out of a loop over pairs, not one at most for a probe row. */
  final def emitsPairs: Boolean = !join.oneRowAtMost

  override def stringArgs: Iterator[Any] =
    Iterator[Any](
      join.accelerator,
      joinType,
      buildSide,
      s"index: ${text(join.served)}",
      s"residual: ${text(join.ofFound)}"
    ) ++ join.fold.map(f =>
      s"aggregated: ${text(f.functions.map(_.copy(mode = Complete)))}"
    ) ++ join.k.map(k =>
      s"limit: $k"
    ) ++ join.rank.map(r => s"rank: $r")

  override def simpleStringWithNodeId(): String =
    s"$nodeName ${join.accelerator}, $joinType, $buildSide (${ExplainUtils.getOpId(this)})"

  override def verboseStringWithOperatorId(): String =
    s"""${super.verboseStringWithOperatorId().stripLineEnd}
       |${ExplainUtils.generateFieldString("Index", text(join.served))}
       |${ExplainUtils.generateFieldString("Residual", text(join.ofFound))}
       |""".stripMargin

  private def text(conjuncts: Seq[Expression]): String = conjuncts.mkString("[", ", ", "]")

  protected def postBuildMetrics(relation: ThetaRelation): Unit = postMetrics(
    JoinMetrics.IndexRows -> relation.store.rows.toLong,
    JoinMetrics.IndexBytes -> relation.bytes,
    JoinMetrics.BuildTime -> relation.buildNanos
  )

  /** For relations that tasks build for themselves. */
  protected final def partitionRelation(mode: ThetaBroadcastMode): PartitionRelation =
    new PartitionRelation(
      mode,
      longMetric(JoinMetrics.IndexRows),
      longMetric(JoinMetrics.IndexBytes),
      longMetric(JoinMetrics.BuildTime)
    )
}
