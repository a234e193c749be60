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
import thetajoin.exec.ThetaJoinExec
import thetajoin.reason.{Reason, ReasonCode}

/**
 * A partial aggregate of build columns above a join, by columns of the probe side or by none: the join gives the
 * buffers of each run of matches, which Spark's aggregate merges. So the pairs of a run are not listed.
 */
object FoldAggregates extends Rule[SparkPlan] {
  override def apply(plan: SparkPlan): SparkPlan =
    if (!Settings.AggregateEnabled.in(conf)) plan
    else
      plan.transformUp { case aggregate @ AggregatedJoin(found) =>
        if (found.against.isEmpty) found.folded.getOrElse(aggregate) else aggregate
      }

  /** Why a join lists its pairs for the aggregate above it. None if it does not, or there is none. */
  def against(plan: SparkPlan): Option[(ThetaJoinExec, Reason)] = plan match {
    case PairAggregateExec(aggregate, child) => against(aggregate.withNewChildren(Seq(child)))
    case AggregatedJoin(found) =>
      found.against.map(why => found.join -> ReasonCode.PairsListed(why))
    case _ => None
  }
}

/** An aggregate that reads the rows of a join of ours. */
private object AggregatedJoin {
  def unapply(plan: SparkPlan): Option[AggregatedJoin] = plan match {
    case aggregate: BaseAggregateExec if isFirst(aggregate) =>
      aggregate.child match {
        case ProjectExec(columns, join: ThetaJoinExec) if givesPairs(join) =>
          Some(new AggregatedJoin(aggregate, Some(columns), join))
        case join: ThetaJoinExec if givesPairs(join) =>
          Some(new AggregatedJoin(aggregate, None, join))
        case _ => None
      }
    case _ => None
  }

  private def givesPairs(join: ThetaJoinExec): Boolean =
    join.join.role.pairs && join.join.fold.isEmpty

  /** Whether it reads rows, and not buffers. */
  private def isFirst(aggregate: BaseAggregateExec): Boolean =
    aggregate.aggregateExpressions.nonEmpty &&
      aggregate.aggregateExpressions.forall(e => e.mode == Partial || e.mode == Complete)
}

/** @param columns the projection between aggregate and join */
private final class AggregatedJoin(
    aggregate: BaseAggregateExec,
    columns: Option[Seq[NamedExpression]],
    val join: ThetaJoinExec
) {
  private val values =
    AttributeMap(columns.toSeq.flatten.collect { case a: Alias => a.toAttribute -> a.child })

  private def below(e: Expression): Expression = e.transform {
    case a: Attribute => values.getOrElse(a, a)
  }

  private val functions =
    aggregate.aggregateExpressions.map(below(_).asInstanceOf[AggregateExpression])

  private def ofProbe(e: Expression): Boolean = e.references.subsetOf(join.probe.outputSet)

  /** What stands in the way, if something does. */
  def against: Option[String] = {
    val ofFound = join.join.ofFound.headOption.map(e => s"${e.sql} is tested on each pair")
    val ofRank = if (join.join.k.isEmpty && join.join.rank.isEmpty) None
    else Some("only the first matches of a row come out")
    val ofGroups = aggregate.groupingExpressions.map(below).find(!ofProbe(_))
      .map(e => s"the groups read ${e.sql} of the side that is built")
    val ofColumns = columns.toSeq.flatten.find(!_.deterministic)
      .map(e => s"${e.sql} is not deterministic")
    ofFound.orElse(ofRank).orElse(ofGroups).orElse(ofColumns)
      .orElse(functions.flatMap(against).headOption)
  }

  private def against(e: AggregateExpression): Option[String] = {
    val name = e.sql
    if (e.isDistinct) Some(s"$name is of distinct values")
    else if (!e.references.subsetOf(join.build.outputSet))
      Some(s"$name reads the side that is not built")
    else if (!e.deterministic) Some(s"$name is not deterministic")
    else
      e.aggregateFunction match {
        case f: DeclarativeAggregate
            if f.aggBufferAttributes.forall(a => UnsafeRow.isMutable(a.dataType)) =>
          if (e.exists(_.isInstanceOf[PlanExpression[_]])) Some(s"$name has a subquery") else None
        case _ => Some(s"$name has no buffers of a fixed length")
      }
  }

  def folded: Option[SparkPlan] = {
    val buffers = functions.flatMap(_.aggregateFunction.inputAggBufferAttributes)
    val ofRuns = join.withJoin(join.join.copy(fold = Some(Fold(functions, buffers))))
    ofRuns.copyTagsFrom(join)
    val child = columns match {
      case None => ofRuns
      case Some(all) => ProjectExec(all.filter(ofProbe) ++ buffers, ofRuns)
    }
    merging(child)
  }

  /** The aggregate of buffers that the child gives. */
  private def merging(child: SparkPlan): Option[SparkPlan] = {
    val functions = aggregate.aggregateExpressions.map { f =>
      f.copy(mode = if (f.mode == Complete) Final else PartialMerge, filter = None)
    }
    aggregate match {
      case a: HashAggregateExec => Some(a.copy(aggregateExpressions = functions, child = child))
      case a: SortAggregateExec => Some(a.copy(aggregateExpressions = functions, child = child))
      case _ => None
    }
  }
}
