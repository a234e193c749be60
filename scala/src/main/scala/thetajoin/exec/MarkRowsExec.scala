package thetajoin.exec

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.execution._

import thetajoin.driver.JoinTask
import thetajoin.driver.code.MarkCode
import thetajoin.driver.source.BroadcastSource
import thetajoin.driver.unmatched.{BuildTailRdd, MarkedRows, MatchMarker, UnmatchedRows}
import thetajoin.relation.{ReceivedRelation, ThetaRelation}

/**
 * The end of the generated stage below an existence join whose preserved side is built, and below its
 * [[ProbeRowsExec]]: the loop over probe rows marks the build rows that match, and gives [[MarkedRows]] when it has
 * ended. It ends early once every build row has a match, if nothing below tells whether all rows were read
 * ([[EarlyEnd]]).
 *
 * Build rows are marked by their positions. So the join hands over the very broadcast that it emits them from: the
 * rows of another run of the build side may stand elsewhere.
 *
 * @param task the work of the join above, which tells all but the child of this node
 * @param build its build side, for code that is shown and not run
 */
final case class MarkRowsExec(child: SparkPlan, task: JoinTask)(@transient build: SparkPlan)
    extends UnaryExecNode
    with CodegenSupport {

  /** The columns of the rows that are read. The node gives [[MarkedRows]], for the join above only. */
  override def output: Seq[Attribute] = child.output

  override def nodeName: String = "MarkRows"

  override protected def stringArgs: Iterator[Any] = Iterator.empty

  override protected def doCanonicalize(): SparkPlan =
    copy(child.canonicalized, task = null)(null)

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(build)

  override protected def withNewChildInternal(newChild: SparkPlan): MarkRowsExec =
    copy(child = newChild)(build)

  @transient @volatile private var handedOver: Broadcast[ThetaRelation] = _

  /** Called by the join before it asks for rows. */
  def mark(broadcast: Broadcast[ThetaRelation]): Unit = handedOver = broadcast

  private def relation(): Broadcast[ThetaRelation] =
    if (handedOver == null) build.executeBroadcast[ThetaRelation]() else handedOver

  private lazy val endsEarly: Boolean = EarlyEnd.isHidden(child)

  override protected def doExecute(): RDD[InternalRow] = {
    val broadcast = relation()
    val marker = MatchMarker.factory(task, broadcast.value, conf.wholeStageEnabled)
    BuildTailRdd.marks(child.execute(), broadcast, marker, endsEarly)
  }

  // ---- Whole-stage code -------------------------------------------------------------------------

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()

  override def needStopCheck: Boolean = false

  override def limitNotReachedChecks: Seq[String] =
    if (endsEarly) Seq(s"!$unmatched.isEmpty()") else Nil

  @transient private var unmatched: String = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val unmatchedClass = classOf[UnmatchedRows].getName
    val done = ctx.addMutableState("boolean", "marked", forceInline = true)
    val broadcast =
      ctx.addReferenceObj("marksRelation", relation(), classOf[Broadcast[_]].getName)
    unmatched = ctx.addMutableState(
      unmatchedClass,
      "unmatched",
      v => s"$v = new $unmatchedClass(${ReceivedRelation.term(broadcast)}.store().rows());",
      forceInline = true
    )
    s"""
       |if (!$done) {
       |  $done = true;
       |  ${child.asInstanceOf[CodegenSupport].produce(ctx, this)}
       |  append(new ${classOf[MarkedRows].getName}($unmatched));
       |}""".stripMargin
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String =
    new MarkCode(ctx, task, new BroadcastSource(relation())).fused(input, unmatched)
}

private[exec] object MarkRowsExec {

  /** The node of a plan that gives marks of build rows in place of probe rows, if there is one. */
  def below(plan: SparkPlan): Option[MarkRowsExec] = plan match {
    case node: MarkRowsExec => Some(node)
    case InputAdapter(child) => below(child)
    case ProbeRowsExec(child) => below(child)
    case WholeStageCodegenExec(child) => below(child)
    case _ => None
  }
}
