package thetajoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, QueryStageExec}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.Exchange

import thetajoin.driver.ExpressionCode

/**
 * Ends the generated stage below a join, so that the join owns its loop over probe rows: it can then stop after any
 * row of its output, spread its input over partitions, and append build rows.
 */
final case class ProbeRowsExec(child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override protected def doExecute(): RDD[InternalRow] = child.execute()
  override protected def withNewChildInternal(newChild: SparkPlan): ProbeRowsExec =
    copy(child = newChild)
}

/**
 * Puts a [[ProbeRowsExec]] below each join that is better off with a loop of its own. The others are fused into their
 * probe side's loop. Runs before Spark collapses stages, with adaptive execution and without.
 */
object IsolateProbe extends Rule[SparkPlan] {
  override def apply(plan: SparkPlan): SparkPlan =
    if (conf.wholeStageEnabled) isolate(plan, consumedInPlace = false) else plan

  /** Whether the node is a part of the stage below it. */
  private def isGenerated(plan: SparkPlan): Boolean = plan match {
    case generated: CodegenSupport => generated.supportCodegen && hasCode(plan)
    case _ => false
  }

  private def hasCode(plan: SparkPlan): Boolean = ExpressionCode.existsFor(plan.expressions)

  /** `consumedInPlace`: whether an aggregate of the same stage takes the rows, so that none is buffered. */
  private def isolate(plan: SparkPlan, consumedInPlace: Boolean): SparkPlan = plan match {
    case join: BroadcastThetaJoinExec if !join.ownsLoop && join.hasCode =>
      val below =
        join.mapChildren(isolate(_, consumedInPlace = false)).asInstanceOf[BroadcastThetaJoinExec]
      if (join.wantsOwnLoop(consumedInPlace)) below.withOwnLoop
      else if (consumedInPlace) below
      else below.inOrder
    case join: PartitionJoin =>
      join.mapChildren {
        case side @ (_: Exchange | _: QueryStageExec | _: AQEShuffleReadExec) =>
          isolate(side, consumedInPlace = false)
        case ended: ProbeRowsExec => ended
        case side => ProbeRowsExec(isolate(side, consumedInPlace = false))
      }
    case PairAggregateExec.OverJoin(aggregate, join) if hasCode(join) && join.hasCode =>
      PairAggregateExec(aggregate, isolate(join, consumedInPlace = true))
    case _: BaseAggregateExec => plan.mapChildren(isolate(_, consumedInPlace = isGenerated(plan)))
    case _: ProjectExec | _: FilterExec =>
      plan.mapChildren(isolate(_, consumedInPlace && isGenerated(plan)))
    case _ => plan.mapChildren(isolate(_, consumedInPlace = false))
  }
}
