package thetajoin.stage

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  DeclarativeAggregate,
  Partial,
  PartialMerge
}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  Expression,
  PlanExpression,
  UserDefinedExpression
}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.aggregate.HashAggregateExec
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import thetajoin.codegen.{AggregateBuffers, KeptColumns}
import thetajoin.driver.code.RowConsumer
import thetajoin.exec.{ConsumesJoin, ThetaJoinExec}
import thetajoin.rowstore.RowStore

/**
 * The partial aggregate without grouping keys right above a join. Spark keeps its buffers in fields, and a field that
 * is read and written for each pair costs more than the pair; here they are local variables of the loop over pairs.
 * Where one row comes of a probe row, Spark's arithmetic alone, with a boxed result, costs more than the look-up: see
 * [[thetajoin.codegen.LoopArithmetic]]. The functions' own expressions do the work, so that results and
 * errors are Spark's.
 *
 * @param replaced Spark's node, for output, and for execution without generated code
 */
final case class PairAggregateExec(replaced: HashAggregateExec, child: SparkPlan)
    extends UnaryExecNode
    with BlockingOperatorWithCodegen
    with ConsumesJoin {

  override def output: Seq[Attribute] = replaced.output

  override lazy val metrics: Map[String, SQLMetric] = Map(
    PairAggregateExec.OutputRows ->
      SQLMetrics.createMetric(sparkContext, "number of output rows")
  )

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()

  /** Inputs are evaluated here, so that the code stays in the method that holds the buffers. */
  override def usedInputs: AttributeSet = AttributeSet.empty

  override protected def doExecute(): RDD[InternalRow] =
    replaced.withNewChildren(Seq(child)).execute()

  @transient private var buffers: AggregateBuffers = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val done = ctx.addMutableState("boolean", "aggregated", forceInline = true)
    buffers = new AggregateBuffers(
      ctx,
      replaced.aggregateExpressions.map(_.aggregateFunction.asInstanceOf[DeclarativeAggregate]),
      child.output,
      merges = replaced.aggregateExpressions.exists(_.mode == PartialMerge)
    )
    s"""
       |if (!$done) {
       |  $done = true;
       |  ${buffers.initialize}
       |  ${child.asInstanceOf[CodegenSupport].produce(ctx, this)}
       |  ${metricTerm(ctx, PairAggregateExec.OutputRows)}.add(1);
       |  ${consume(ctx, buffers.results)}
       |}""".stripMargin
  }

  /** Takes the rows of the join below. */
  override def consumer(consume: Seq[ExprCode] => String): RowConsumer = new RowConsumer {
    override def emit(row: Seq[ExprCode]): String = consume(row)
    override def emitSingle(row: Seq[ExprCode]): String = {
      isSingle = true
      try consume(row)
      finally isSingle = false
    }
    override def enterLoop: String = buffers.load
    override def leaveLoop: String = buffers.store
    override def standalone: Option[AttributeSet] = Some(buffers.read)
  }

  @transient private var isSingle = false

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val evaluated = evaluateRequiredVariables(buffers.input, input, buffers.read)
    evaluated + (if (isSingle) updateSingle(ctx, input) else buffers.update(input))
  }

  /**
   * In a method: the JIT takes no method of more than 325 bytes (FreqInlineSize) into another, and Spark may have put
   * all that is done with a probe row into one.
   */
  private def updateSingle(ctx: CodegenContext, input: Seq[ExprCode]): String = {
    val kept = new KeptColumns(ctx, buffers.input, input, buffers.read)
    val name = ctx.freshName("updateBuffers")
    val method = ctx.addNewFunction(
      name,
      s"""
         |private void $name() throws java.io.IOException {
         |  ${kept.declareLocals}
         |  ${buffers.load}
         |  ${buffers.update(kept.locals)}
         |  ${buffers.store}
         |}""".stripMargin
    )
    s"${kept.set}\n$method();"
  }

  override protected def doCanonicalize(): SparkPlan = {
    val canonical = replaced.copy(child = child).canonicalized.asInstanceOf[HashAggregateExec]
    copy(canonical, canonical.child)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PairAggregateExec =
    copy(child = newChild)
}

object PairAggregateExec {
  private val OutputRows = "numOutputRows"

  /** An aggregate that this class can replace, and the join whose rows it takes. */
  object OverJoin {
    def unapply(plan: SparkPlan): Option[(HashAggregateExec, ThetaJoinExec)] = plan match {
      case aggregate: HashAggregateExec
          if aggregate.groupingExpressions.isEmpty && aggregate.aggregateExpressions.nonEmpty &&
            aggregate.aggregateExpressions.forall(local) &&
            aggregate.aggregateExpressions.map(_.mode).distinct.size == 1 =>
        join(aggregate.child)
          .filter(j => j.output.nonEmpty && (j.emitsPairs || isSmall(aggregate)))
          .map((aggregate, _))
      case _ => None
    }
  }

  private def local(e: AggregateExpression): Boolean =
    (e.mode == Partial || e.mode == PartialMerge) && !e.isDistinct && e.filter.isEmpty &&
      (e.aggregateFunction match {
        case f: DeclarativeAggregate =>
          f.aggBufferAttributes.forall(a => RowStore.isFlat(a.dataType)) && f.deterministic &&
          !f.exists(needsSpark)
        case _ => false
      })

  /**
   * An expression that Spark has to see in the plan: it runs subqueries ahead, leaves some functions out of generated
   * code and calls others once.
   */
  private def needsSpark(e: Expression): Boolean = e match {
    case _: PlanExpression[_] | _: CodegenFallback | _: UserDefinedExpression => true
    case _ => false
  }

  /** Whether it stays small as a part of a loop over probe rows, which Spark would call it from. */
  private def isSmall(aggregate: HashAggregateExec): Boolean = {
    val functions = aggregate.aggregateExpressions.map(_.aggregateFunction)
    functions.map(_.aggBufferAttributes.size).sum <= MostBuffersInPlace &&
    functions.flatMap(_.children).forall(e => e.isInstanceOf[Attribute] || e.foldable)
  }

  private val MostBuffersInPlace = 8

  private def join(plan: SparkPlan): Option[ThetaJoinExec] = plan match {
    case join: ThetaJoinExec => Some(join)
    case ProjectExec(columns, child) if columns.forall(_.isInstanceOf[Attribute]) => join(child)
    case _ => None
  }
}
