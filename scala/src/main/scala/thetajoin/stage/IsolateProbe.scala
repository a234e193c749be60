package thetajoin.stage

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, QueryStageExec}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.Exchange

import thetajoin.codegen.ExpressionCode
import thetajoin.exec.{BroadcastThetaJoinExec, PartitionJoin, ProbeRowsExec}

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
