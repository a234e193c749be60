package thetajoin.exec

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.{RDD, UnionRDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.execution._

import thetajoin.driver._
import thetajoin.relation.ThetaRelation

/**
 * An aggregate without grouping keys over a join that also gives build rows without a match, in one pass over the probe rows. Each task
 * of `pairs` gives one row, and marks build rows while it takes its pairs. A small shuffle brings rows and marks to the tasks of `tail`,
 * which take the build rows that no task has marked.
 *
 * @param pairs the aggregate over a join that gives pairs and probe rows without a match only
 * @param tail the same aggregate over a [[TailRowsExec]] with this `input`
 */
final case class PairsThenTailExec(pairs: SparkPlan, tail: SparkPlan, input: TailInput)
    extends BinaryExecNode {
  override def left: SparkPlan = pairs
  override def right: SparkPlan = tail
  override def output: Seq[Attribute] = pairs.output
  override def nodeName: String = "PairsThenTail"
  override protected def stringArgs: Iterator[Any] = Iterator.empty

  override protected def doExecute(): RDD[InternalRow] = {
    val Seq(join) = pairs.collect {
      case join: BroadcastThetaJoinExec if join.marks.contains(input.join) => join
    }: @unchecked
    val relation = join.relation()
    val sent = BuildTailRdd.afterPairs(pairs.execute(), input.join, relation)
    input.set(sent.tail, relation)
    new UnionRDD(sparkContext, Seq(sent.rows, tail.execute()))
  }

  override protected def doCanonicalize(): SparkPlan =
    copy(pairs.canonicalized, tail.canonicalized, input = null)

  override protected def withNewChildrenInternal(
      newPairs: SparkPlan,
      newTail: SparkPlan
  ): PairsThenTailExec = copy(pairs = newPairs, tail = newTail)
}

/**
 * What [[PairsThenTailExec]] hands to the [[TailRowsExec]] below it, which may be a copy of the one that it was made with.
 *
 * @param join the number of the join among [[TaskMarks]]
 * @param build its build side, for code that is shown and not run
 */
final class TailInput(val join: Int, @transient build: SparkPlan) extends Serializable {
  @transient @volatile private var partitions: RDD[InternalRow] = _
  @transient @volatile private var broadcast: Broadcast[ThetaRelation] = _

  def set(tail: RDD[InternalRow], relation: Broadcast[ThetaRelation]): Unit = {
    partitions = tail
    broadcast = relation
  }

  /** Partitions of [[BuildTail]]. */
  def tail: RDD[InternalRow] = partitions
  def relation: Broadcast[ThetaRelation] =
    if (broadcast == null) build.executeBroadcast() else broadcast
}

/** The build rows of a join that have no match, with nulls for the probe side. */
final case class TailRowsExec(output: Seq[Attribute], task: JoinTask, input: TailInput)
    extends LeafExecNode
    with JoinLoops {
  override def nodeName: String = "TailRows"
  override protected def stringArgs: Iterator[Any] = Iterator.empty

  private def source: TaskSource = new BroadcastSource(input.relation)

  override protected def doExecute(): RDD[InternalRow] = interpreted(input.tail, source)

  override def inputRDDs(): Seq[RDD[InternalRow]] = Seq(input.tail)

  override protected def doProduce(ctx: CodegenContext): String = produceOwnLoop(ctx, source)

  /** All but the columns is told by the join that it belongs to. */
  override protected def doCanonicalize(): SparkPlan =
    super.doCanonicalize().asInstanceOf[TailRowsExec].copy(task = null, input = null)
}
