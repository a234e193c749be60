package thetajoin.exec

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, SortOrder}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.execution.metric.SQLMetrics

import thetajoin.condition.Safety
import thetajoin.contract.KeyErrors
import thetajoin.driver._
import thetajoin.relation.{ThetaBroadcastMode, ThetaRelation}

/** What our join nodes share: what they join by, and how that is told. */
trait ThetaJoinExec extends BaseJoinExec with JoinLoops {
  def buildSide: BuildSide

  /** How the build side becomes a relation, by the names of its columns. */
  def mode: ThetaBroadcastMode

  /** The same for rows as the build side has them. */
  @transient protected final lazy val boundMode: ThetaBroadcastMode = mode.boundTo(build.output)

  /** The conjuncts that the index answers. */
  def indexed: Seq[Expression]

  /** The conjuncts checked on candidates; one that the index answers roughly is in both. */
  def residual: Seq[Expression]

  /** See [[JoinTask]]. */
  def probeKeys: Seq[Expression]
  def probeFilter: Option[Expression]

  /** See [[JoinTask]]. */
  def limit: Option[Int]
  def rank: Option[SortOrder]

  /** See [[ByKeys]]: in fields, whose expressions Spark sees; no keys if the index answers all that is planned. */
  def equalKeys: Seq[Expression] = Nil
  def equalResidual: Seq[Expression] = Nil

  protected final def probe: SparkPlan = buildSide match {
    case BuildLeft => right
    case BuildRight => left
  }

  protected final def build: SparkPlan = buildSide match {
    case BuildLeft => left
    case BuildRight => right
  }

  protected lazy val task: JoinTask = {
    val role = JoinRole.of(joinType, buildSide).get
    val stored = ThetaJoinExec.storedAttributes(role, build.output, residual)
    require(
      stored.map(_.dataType) == boundMode.stored.map(_.dataType),
      s"the index holds ${boundMode.stored}, the join reads $stored"
    )
    val areSafe = probeKeys.forall(Safety.cannotFail)
    JoinTask(
      role,
      buildSide,
      probe.output,
      stored,
      probeKeys,
      probeFilter,
      residual,
      keysCanFail = mode.spec.keyErrors == KeyErrors.Held && !areSafe,
      keysMayRaise = mode.spec.keyErrors == KeyErrors.Raised && !areSafe,
      takesNullKeys = mode.spec.takesNulls,
      limit,
      rank,
      if (equalKeys.isEmpty) None else Some(ByKeys(equalKeys, equalResidual))
    )
  }

  /** Whether many probe rows are asked for at once. */
  protected final def asksTogether: Boolean =
    mode.spec.rowsTogether > 0 && task.role.buildExistence.isEmpty

  protected final def batchesOf(relation: ThetaRelation): Option[Batches] =
    relation.index.newBatchProber().map(_ => Batches(mode.spec.bounds, mode.spec.rowsTogether))

  /** Whether there is generated code for what the driver does. */
  final def hasCode: Boolean = task.hasCode

  /** Whether rows come out of a loop over pairs, not one at most for a probe row. */
  final def emitsPairs: Boolean = !task.oneRowAtMost

  override def stringArgs: Iterator[Any] =
    Iterator[Any](
      mode.accelerator,
      joinType,
      buildSide,
      s"index: ${text(indexed)}",
      s"residual: ${text(residual)}"
    ) ++ limit.map(k => s"limit: $k") ++ rank.map(r => s"rank: $r")

  override def simpleStringWithNodeId(): String =
    s"$nodeName ${mode.accelerator}, $joinType, $buildSide (${ExplainUtils.getOpId(this)})"

  override def verboseStringWithOperatorId(): String =
    s"""${super.verboseStringWithOperatorId().stripLineEnd}
       |${ExplainUtils.generateFieldString("Index", text(indexed))}
       |${ExplainUtils.generateFieldString("Residual", text(residual))}
       |""".stripMargin

  private def text(conjuncts: Seq[Expression]): String = conjuncts.mkString("[", ", ", "]")

  protected def postBuildMetrics(relation: ThetaRelation): Unit = postMetrics(
    JoinMetrics.IndexRows -> relation.store.rows.toLong,
    JoinMetrics.IndexBytes -> relation.bytes,
    JoinMetrics.BuildTime -> relation.buildNanos
  )

  /** What the driver has found out. */
  protected final def postMetrics(values: (String, Long)*): Unit = {
    values.foreach { case (key, value) => longMetric(key).set(value) }
    SQLMetrics.postDriverMetricUpdates(
      sparkContext,
      sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY),
      values.map { case (key, _) => longMetric(key) }
    )
  }

  /** For relations that tasks build for themselves. */
  protected final def partitionRelation(mode: ThetaBroadcastMode): PartitionRelation =
    new PartitionRelation(
      mode,
      longMetric(JoinMetrics.IndexRows),
      longMetric(JoinMetrics.IndexBytes),
      longMetric(JoinMetrics.BuildTime)
    )
}

object ThetaJoinExec {

  /** The build columns that a relation must hold for a join. */
  def storedAttributes(
      role: JoinRole,
      build: Seq[Attribute],
      residual: Seq[Expression]
  ): Seq[Attribute] =
    if (role.emitsBuildColumns) build
    else {
      val read = AttributeSet.fromAttributeSets(residual.map(_.references))
      build.filter(read.contains)
    }
}
