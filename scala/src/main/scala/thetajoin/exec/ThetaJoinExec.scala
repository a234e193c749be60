package thetajoin.exec

import scala.annotation.unused
import scala.collection.mutable

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import thetajoin.accelerator.KeyErrors
import thetajoin.condition.Safety
import thetajoin.driver._
import thetajoin.rowstore.ThetaRelation

/** What our join nodes share: how they are told, and how the driver is put into a generated stage. */
trait ThetaJoinExec extends BaseJoinExec with CodegenSupport {
  def buildSide: BuildSide

  /** How the build side becomes a relation. */
  def mode: ThetaBroadcastMode

  /** The conjuncts that the index answers. */
  def indexed: Seq[Expression]

  /** The conjuncts checked on candidates; one that the index answers roughly is in both. */
  def residual: Seq[Expression]

  /** See [[JoinTask]]. */
  def probeKeys: Seq[Expression]
  def probeFilter: Option[Expression]

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
    JoinTask(
      role,
      buildSide,
      probe.output,
      ThetaJoinExec.storedAttributes(role, build.output, residual),
      probeKeys,
      probeFilter,
      residual,
      keysCanFail = mode.spec.keyErrors == KeyErrors.Held && !probeKeys.forall(Safety.cannotFail)
    )
  }

  /** Whether rows come out of a loop over pairs, not one at most for a probe row. */
  final def emitsPairs: Boolean = !task.role.oneRowAtMost

  override lazy val metrics: Map[String, SQLMetric] = JoinMetrics.create(sparkContext)

  override def stringArgs: Iterator[Any] =
    Iterator(
      mode.accelerator,
      joinType,
      buildSide,
      s"index: ${text(indexed)}",
      s"residual: ${text(residual)}"
    )

  override def simpleStringWithNodeId(): String =
    s"$nodeName ${mode.accelerator}, $joinType, $buildSide (${ExplainUtils.getOpId(this)})"

  override def verboseStringWithOperatorId(): String =
    s"""${super.verboseStringWithOperatorId().stripLineEnd}
       |${ExplainUtils.generateFieldString("Index", text(indexed))}
       |${ExplainUtils.generateFieldString("Residual", text(residual))}
       |""".stripMargin

  private def text(conjuncts: Seq[Expression]): String = conjuncts.mkString("[", ", ", "]")

  protected def postBuildMetrics(relation: ThetaRelation): Unit = {
    val values = Seq(
      JoinMetrics.IndexRows -> relation.store.rows.toLong,
      JoinMetrics.IndexBytes -> relation.bytes,
      JoinMetrics.BuildTime -> relation.buildNanos
    )
    values.foreach { case (key, value) => longMetric(key).set(value) }
    SQLMetrics.postDriverMetricUpdates(
      sparkContext,
      sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY),
      values.map { case (key, _) => longMetric(key) }
    )
  }

  /** The metrics of relations that tasks build for themselves. */
  protected final def partitionBuilt: ThetaRelation => Unit = {
    val (indexRows, indexBytes, buildTime) = (
      longMetric(JoinMetrics.IndexRows),
      longMetric(JoinMetrics.IndexBytes),
      longMetric(JoinMetrics.BuildTime)
    )
    relation => {
      indexRows += relation.store.rows
      indexBytes += relation.bytes
      buildTime += relation.buildNanos
    }
  }

  protected def interpreted(rows: RDD[InternalRow], source: TaskSource): RDD[InternalRow] = {
    val (joinTask, joinMetrics) = (task, metrics)
    rows.mapPartitionsWithIndex { (partition, probe) =>
      new InterpretedJoin(joinTask, source.relation(probe), joinMetrics, partition).run(probe)
    }
  }

  /** A loop over the rows of the stage's first input. */
  protected def produceOwnLoop(ctx: CodegenContext, source: RelationSource): String = {
    val input = ctx.addMutableState(
      "scala.collection.Iterator",
      "input",
      v => s"$v = inputs[0];",
      forceInline = true
    )
    val stop = if (parent.needStopCheck) Some("shouldStop()") else None
    val goesOn = parent.limitNotReachedChecks.map(_ + " && ").mkString
    joinCode(ctx, source).ownLoop(input, consumer(ctx), stop, goesOn)
  }

  @transient private lazy val fused = mutable.ArrayBuffer.empty[JoinCode]

  /**
   * The loop of the probe side, which calls [[consumeFused]], and what follows it. It may call it for each of several loops, as a union
   * does, or not at all.
   */
  protected def produceFused(ctx: CodegenContext, probe: SparkPlan): String = {
    fused.clear()
    val loop = probe.asInstanceOf[CodegenSupport].produce(ctx, this)
    (loop +: fused.map(_.afterFused)).mkString("\n")
  }

  /** Within the loop of the probe side. */
  protected def consumeFused(
      ctx: CodegenContext,
      source: RelationSource,
      input: Seq[ExprCode]
  ): String = {
    val code = joinCode(ctx, source)
    fused += code
    code.fused(input, consumer(ctx))
  }

  /** Whether probe rows of this stage are sorted in batches. */
  protected def sortsBatches(@unused relation: ThetaRelation): Boolean = false

  private def joinCode(ctx: CodegenContext, source: RelationSource): JoinCode = {
    val batchBounds = if (sortsBatches(source.sample)) Some(mode.spec.bounds) else None
    new JoinCode(ctx, task, source, batchBounds, metricTerm(ctx, _))
  }

  private def consumer(ctx: CodegenContext): RowConsumer = parent match {
    case aggregate: PairAggregateExec => aggregate.consumer(consume(ctx, _))
    case _ =>
      new RowConsumer {
        override def emit(row: Seq[ExprCode]): String = consume(ctx, row)
      }
  }
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
