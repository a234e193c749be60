package thetajoin.stage

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  Complete,
  DeclarativeAggregate,
  Final,
  Partial,
  PartialMerge
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.aggregate.{
  BaseAggregateExec,
  HashAggregateExec,
  SortAggregateExec
}

import thetajoin.Settings
import thetajoin.aggregate.Fold
import thetajoin.driver.ThetaJoin
import thetajoin.exec.ThetaJoinExec

/**
 * A partial aggregate of build columns above a join, by columns of the probe side or by none: the join gives the
 * buffers of each run of matches, which Spark's aggregate merges. So the pairs of a run are not listed.
 */
object FoldAggregates extends Rule[SparkPlan] {
  override def apply(plan: SparkPlan): SparkPlan =
    if (!Settings.AggregateEnabled.in(conf)) plan
    else
      plan.transformUp { case aggregate: BaseAggregateExec =>
        folded(aggregate).getOrElse(aggregate)
      }

  private def folded(aggregate: BaseAggregateExec): Option[SparkPlan] = aggregate.child match {
    case ProjectExec(columns, join: ThetaJoinExec) =>
      val values = AttributeMap(columns.collect { case a: Alias => a.toAttribute -> a.child })
      folded(aggregate, Some(columns), values, join)
    case join: ThetaJoinExec => folded(aggregate, None, AttributeMap.empty, join)
    case _ => None
  }

  /** @param values what the columns between aggregate and join stand for */
  private def folded(
      aggregate: BaseAggregateExec,
      columns: Option[Seq[NamedExpression]],
      values: AttributeMap[Expression],
      join: ThetaJoinExec
  ): Option[SparkPlan] = {
    def below(e: Expression): Expression = e.transform {
      case a: Attribute => values.getOrElse(a, a)
    }
    val functions =
      aggregate.aggregateExpressions.map(below(_).asInstanceOf[AggregateExpression])
    val ofProbe = (_: Expression).references.subsetOf(join.probe.outputSet)
    if (
      functions.nonEmpty && functions.forall(isFolded(_, join.build.outputSet)) &&
      aggregate.groupingExpressions.forall(e => ofProbe(below(e))) && canFold(join.join) &&
      columns.forall(_.forall(_.deterministic))
    ) {
      val buffers = functions.flatMap(_.aggregateFunction.inputAggBufferAttributes)
      val ofRuns = join.withJoin(join.join.copy(fold = Some(Fold(functions, buffers))))
      ofRuns.copyTagsFrom(join)
      val child = columns match {
        case None => ofRuns
        case Some(all) => ProjectExec(all.filter(ofProbe) ++ buffers, ofRuns)
      }
      merging(aggregate, child)
    } else None
  }

  /** The aggregate of buffers that the child gives. */
  private def merging(aggregate: BaseAggregateExec, child: SparkPlan): Option[SparkPlan] = {
    val functions = aggregate.aggregateExpressions.map { f =>
      f.copy(mode = if (f.mode == Complete) Final else PartialMerge, filter = None)
    }
    aggregate match {
      case a: HashAggregateExec => Some(a.copy(aggregateExpressions = functions, child = child))
      case a: SortAggregateExec => Some(a.copy(aggregateExpressions = functions, child = child))
      case _ => None
    }
  }

  /** Whether all matches of a probe row come out, and candidates of the index are matches. */
  private def canFold(join: ThetaJoin): Boolean =
    join.role.pairs && join.k.isEmpty && join.rank.isEmpty && join.ofFound.isEmpty

  private def isFolded(e: AggregateExpression, build: AttributeSet): Boolean =
    (e.mode == Partial || e.mode == Complete) && !e.isDistinct && e.deterministic &&
      e.references.subsetOf(build) && (e.aggregateFunction match {
        case f: DeclarativeAggregate =>
          f.aggBufferAttributes.forall(a => UnsafeRow.isMutable(a.dataType)) &&
          !e.exists(_.isInstanceOf[PlanExpression[_]])
        case _ => false
      })
}
