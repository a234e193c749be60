package thetajoin.exec

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.execution._

import thetajoin.driver._
import thetajoin.rowstore.ThetaRelation

/**
 * The end of the generated stage below an existence join whose preserved side is built, and below its [[ProbeRowsExec]]:
 * the loop over probe rows marks the build rows that match, and gives [[MarkedRows]] when it has ended. It ends early once
 * every build row has a match.
 *
 * @param task what the join above does, which tells all but the children of this node
 */
final case class MarkRowsExec(probe: SparkPlan, build: SparkPlan, task: JoinTask)
    extends BinaryExecNode
    with CodegenSupport {
  override def left: SparkPlan = probe
  override def right: SparkPlan = build

  /** Of the rows taken. What is given are [[MarkedRows]], for the join above only. */
  override def output: Seq[Attribute] = probe.output

  override def nodeName: String = "MarkRows"

  override protected def stringArgs: Iterator[Any] = Iterator.empty

  override protected def doCanonicalize(): SparkPlan =
    copy(probe.canonicalized, build.canonicalized, task = null)

  override protected def withNewChildrenInternal(left: SparkPlan, right: SparkPlan): MarkRowsExec =
    copy(probe = left, build = right)

  private def relation(): Broadcast[ThetaRelation] = build.executeBroadcast[ThetaRelation]()

  override protected def doExecute(): RDD[InternalRow] = {
    val broadcast = relation()
    val marker = MatchMarker.factory(task, broadcast.value, conf.wholeStageEnabled)
    BuildTailRdd.marks(probe.execute(), broadcast, marker)
  }

  // ---- Whole-stage code -------------------------------------------------------------------------

  override def inputRDDs(): Seq[RDD[InternalRow]] = probe.asInstanceOf[CodegenSupport].inputRDDs()

  override def needStopCheck: Boolean = false

  /** Once every build row has a match, no probe row is read. */
  override def limitNotReachedChecks: Seq[String] = Seq(s"!$unmatched.isEmpty()")

  @transient private var unmatched: String = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val unmatchedClass = classOf[UnmatchedRows].getName
    val relationClass = classOf[ThetaRelation].getName
    val done = ctx.addMutableState("boolean", "marked", forceInline = true)
    val broadcast = ctx.addReferenceObj("marksRelation", relation())
    unmatched = ctx.addMutableState(
      unmatchedClass,
      "unmatched",
      v => s"$v = new $unmatchedClass((($relationClass) $broadcast.value()).store().rows());",
      forceInline = true
    )
    s"""
       |if (!$done) {
       |  $done = true;
       |  ${probe.asInstanceOf[CodegenSupport].produce(ctx, this)}
       |  append(new ${classOf[MarkedRows].getName}($unmatched));
       |}""".stripMargin
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String =
    new MarkCode(ctx, task, new BroadcastSource(relation())).fused(input, unmatched)
}
