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
        case sort @ SortExec(_, false, child, _) => of(aggregate, Some(sort), child)
        case child => of(aggregate, None, child)
      }
    case _ => None
  }

  private def of(
      aggregate: BaseAggregateExec,
      sort: Option[SortExec],
      child: SparkPlan
  ): Option[AggregatedJoin] = child match {
    case ProjectExec(columns, join: ThetaJoinExec) if givesPairs(join) =>
      Some(new AggregatedJoin(aggregate, sort, Some(columns), join))
    case join: ThetaJoinExec if givesPairs(join) =>
      Some(new AggregatedJoin(aggregate, sort, None, join))
    case _ => None
  }

  private def givesPairs(join: ThetaJoinExec): Boolean =
    join.join.role.pairs && join.join.fold.isEmpty

  /** Whether it reads rows, and not buffers. */
  private def isFirst(aggregate: BaseAggregateExec): Boolean =
    aggregate.aggregateExpressions.nonEmpty &&
      aggregate.aggregateExpressions.forall(e => e.mode == Partial || e.mode == Complete)
}

/**
 * @param sort by the groups, between aggregate and join
 * @param columns the projection below it
 */
private final class AggregatedJoin(
    aggregate: BaseAggregateExec,
    sort: Option[SortExec],
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

  /** Functions of probe columns that need each probe row once, however many matches it has. They are not folded. */
  private def isOfProbe(e: AggregateExpression): Boolean =
    e.references.nonEmpty && ofProbe(e) && Fold.ignoresRepeats(e)

  private val ofBuild = functions.filterNot(isOfProbe)

  /** What stands in the way, if something does. */
  def against: Option[String] = {
    val ofFound = join.join.ofFound.headOption.map(e => s"${e.sql} is tested on each pair")
    val ofRank = if (join.join.k.isEmpty && join.join.rank.isEmpty) None
    else Some("only the first matches of a row come out")
    val ofGroups = aggregate.groupingExpressions.map(below).find(!ofProbe(_))
      .map(e => s"the groups read ${e.sql} of the side that is built")
    // Each run would stand at one place of an order of its rows.
    val ofOrder = sort.toSeq.flatMap(_.sortOrder).map(below).find(!ofProbe(_))
      .map(e => s"rows are sorted by ${e.sql} of the side that is built")
    val ofColumns = columns.toSeq.flatten.find(!_.deterministic)
      .map(e => s"${e.sql} is not deterministic")
    val ofFunctions =
      if (ofBuild.isEmpty) Some("no function reads the side that is built")
      else ofBuild.flatMap(against).headOption
    ofFound.orElse(ofRank).orElse(ofGroups).orElse(ofOrder).orElse(ofColumns).orElse(ofFunctions)
  }

  private def against(e: AggregateExpression): Option[String] = {
    val name = e.sql
    if (e.isDistinct) Some(s"$name is of distinct values")
    else if (!e.references.subsetOf(join.build.outputSet))
      Some(s"$name reads the side that is not built")
    else if (!Fold.isDeterministic(e)) Some(s"$name is not deterministic")
    else
      e.aggregateFunction match {
        case f: DeclarativeAggregate
            if f.aggBufferAttributes.forall(a => UnsafeRow.isMutable(a.dataType)) =>
          if (e.exists(_.isInstanceOf[PlanExpression[_]])) Some(s"$name has a subquery") else None
        case _ => Some(s"$name has no buffers of a fixed length")
      }
  }

  def folded: Option[SparkPlan] = {
    val buffers = ofBuild.flatMap(_.aggregateFunction.inputAggBufferAttributes)
    val ofRuns = join.withJoin(join.join.copy(fold = Some(Fold(ofBuild, buffers))))
    ofRuns.copyTagsFrom(join)
    val child = columns match {
      case None => ofRuns
      case Some(all) => ProjectExec(all.filter(ofProbe) ++ buffers, ofRuns)
    }
    merging(sort.fold(child)(_.copy(child = child)))
  }

  /** The aggregate of buffers that the child gives, and of probe columns. */
  private def merging(child: SparkPlan): Option[SparkPlan] = {
    val functions = aggregate.aggregateExpressions.map { f =>
      if (isOfProbe(below(f).asInstanceOf[AggregateExpression])) f
      else f.copy(mode = if (f.mode == Complete) Final else PartialMerge, filter = None)
    }
    aggregate match {
      case a: HashAggregateExec => Some(a.copy(aggregateExpressions = functions, child = child))
      case a: SortAggregateExec => Some(a.copy(aggregateExpressions = functions, child = child))
      case _ => None
    }
  }
}
