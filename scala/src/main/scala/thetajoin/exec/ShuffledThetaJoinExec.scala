package thetajoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  Expression,
  LeafExpression,
  Predicate,
  SortOrder
}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.joins.{ShuffledHashJoinExec, ShuffledJoin}

import thetajoin.condition.ConditionAnalysis
import thetajoin.driver.ThetaJoin

/**
 * A join of two sides that are partitioned by equality keys. Each partition has an index of its own: the rows of a
 * key are ordered by the other values that the condition compares. Spark decides how the sides are brought there, and
 * how large partitions are split: see [[ArrangedJoin]].
 *
 * @param condition the condition without the keys
 * @param isSkewJoin whether adaptive execution has split a partition
 */
final case class ShuffledThetaJoinExec(
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    joinType: JoinType,
    condition: Option[Expression],
    left: SparkPlan,
    right: SparkPlan,
    isSkewJoin: Boolean,
    join: ThetaJoin
) extends ShuffledJoin
    with PartitionJoin {
  override def nodeName: String = "ShuffledThetaJoin"

  override def withJoin(changed: ThetaJoin): ShuffledThetaJoinExec = copy(join = changed)

  override def output: Seq[Attribute] = folded(super.output)

  override def stringArgs: Iterator[Any] =
    super.stringArgs ++ (if (isSkewJoin) Iterator("skew=true") else Iterator.empty)

  override def outputOrdering: Seq[SortOrder] =
    if (join.role.needsMatchedBuildRows) Nil else probe.outputOrdering

  override protected def sides(): (RDD[InternalRow], RDD[InternalRow]) =
    (probe.execute(), build.execute())

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): ShuffledThetaJoinExec = copy(left = newLeft, right = newRight)
}

/**
 * Joins that Spark arranges as hash joins of its own, with ours as a tag. Its rules know that class: they add
 * shuffles or find that buckets do, merge small partitions and split partitions of frequent keys. Some make the node
 * anew, so a subclass would be lost. [[TakeArrangedJoins]] then puts a [[ShuffledThetaJoinExec]] in its place. Were
 * the tag lost, Spark's join would run.
 */
private[exec] object ArrangedJoin {
  private val Tag = TreeNodeTag[ThetaJoin]("thetajoin.arranged")

  /**
   * Spark's node for it. If ours gives other rows than Spark's join would, Spark's node can't run if the tag is lost.
   */
  def arrange(join: ThetaJoin, sparks: ShuffledHashJoinExec): SparkPlan = {
    val arranged =
      if (join.k.isEmpty) sparks
      else
        sparks.copy(condition = (sparks.condition ++ Seq(RunsHereOnly())).reduceOption(And(_, _)))
    arranged.setTagValue(Tag, join)
    arranged
  }

  /** Ours in its place. */
  def taken(sparks: ShuffledHashJoinExec): SparkPlan =
    sparks.getTagValue(Tag).fold[SparkPlan](sparks) { join =>
      ShuffledThetaJoinExec(
        sparks.leftKeys,
        sparks.rightKeys,
        sparks.joinType,
        sparks.condition.toSeq.flatMap(ConditionAnalysis.conjuncts).filterNot(_ == RunsHereOnly())
          .reduceOption(And(_, _)),
        sparks.left,
        sparks.right,
        sparks.isSkewJoin,
        join
      )
    }
}

/** Stands in a condition of Spark's node for work that only our node does: Spark's node can't run. */
private[exec] final case class RunsHereOnly() extends LeafExpression with Predicate {
  override def nullable: Boolean = false
  override def eval(input: InternalRow): Any = refuse()
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = refuse()
  private def refuse(): Nothing =
    throw new IllegalStateException(
      "a join of thetajoin was left to Spark, which would give other rows"
    )
}

/** Runs after Spark's rules that look for its own joins. */
object TakeArrangedJoins extends Rule[SparkPlan] {
  override def apply(plan: SparkPlan): SparkPlan = plan.transform {
    case join: ShuffledHashJoinExec => ArrangedJoin.taken(join)
  }
}
