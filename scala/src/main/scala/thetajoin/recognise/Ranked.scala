package thetajoin.recognise

import org.apache.spark.sql.catalyst.analysis.DeduplicateRelations
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.{Inner, JoinType, LeftOuter}
import org.apache.spark.sql.internal.SQLConf

import thetajoin.condition.{ConditionAnalysis, FoundByIndex}
import thetajoin.hints.HintNotes
import thetajoin.logical.RankedJoin
import thetajoin.planner.{Choice, Planner}

/** A top-k join, before it is known whether it is accelerated. */
private[recognise] final case class Ranked(
    left: LogicalPlan,
    right: LogicalPlan,
    joinType: JoinType,
    conditions: Seq[Expression],
    rank: SortOrder,
    k: Int,
    isApproximate: Boolean = false
) {

  /** For joins that Spark runs by looking at all pairs. */
  def taken(conf: SQLConf): Option[LogicalPlan] = replaced.taken(conf, mustBeFound = false)

  /**
   * The join, if the first k matches are found without a look at the others, or if Spark would have to look at all
   * pairs too.
   */
  def found(conf: SQLConf): Option[LogicalPlan] = replaced.taken(conf, mustBeFound = true)

  /**
   * The same for subqueries and aggregates, unless all that is compared are keys: Spark then looks at the rows of each
   * key once.
   */
  def foundBeyondKeys(conf: SQLConf): Option[LogicalPlan] = if (isOfKeys) None else found(conf)

  /** Notes why Spark has to run the node, if an accelerator knows the order. */
  def note(node: LogicalPlan, conf: SQLConf): Unit = StandIns.knowing(rank).foreach { id =>
    val decision = Planner.choose(replaced.joined, conf)
    val why =
      if (decision.chosen.isEmpty) decision.losers.filter(_.accelerator == id).map(_.advice)
      else if (joinType == LeftOuter) Seq(Ranked.ComputedAbove)
      else Nil
    HintNotes.add(node, why.map(reason => s"all matches are ordered by Spark: $reason"))
  }

  /** Whether left rows with the same keys have the same first k matches. */
  private def isOfKeys: Boolean = {
    def isOfOneSide(e: Expression) =
      Seq(left, right).exists(side => e.references.subsetOf(side.outputSet))
    rank.references.subsetOf(right.outputSet) &&
    replaced.conditions.flatMap(ConditionAnalysis.conjuncts).forall(c =>
      PlanFacts.isEquality(c) || isOfOneSide(c)
    )
  }

  private def replaced: Ranked = {
    val read = copy(
      conditions = conditions.map(PlanFacts.replaced),
      rank = rank.copy(child = PlanFacts.replaced(rank.child))
    )
    read.copy(conditions = read.others, rank = StandIns.ofRank(read.rank).getOrElse(read.rank))
  }

  private def taken(conf: SQLConf, mustBeFound: Boolean): Option[LogicalPlan] =
    if (!isPure || right.isStreaming || left.isStreaming && FoundByIndex.isIn(rank)) None
    else if (sharesColumns) renewed.flatMap(_.taken(conf, mustBeFound)).map(underOldNames)
    else {
      val join = joined
      Planner.choose(join, conf).chosen.filter(!mustBeFound || isFoundBy(_, join, conf))
        .map(_ => FewLeftRows(join, conf).getOrElse(join))
    }

  private def joined: RankedJoin =
    RankedJoin(left, right, joinType, conditions.reduceOption(And(_, _)), rank, k, isApproximate)

  /**
   * Whether the first k matches are found without a look at the others, or among the candidates of an index, or Spark
   * would have to look at all pairs too. An index is made of the right side, where one of the left side might be
   * better.
   */
  private def isFoundBy(choice: Choice, join: RankedJoin, conf: SQLConf): Boolean = {
    val readsPairs = rank.references.exists(left.outputSet.contains)
    def isNarrowed = choice.offer.served.nonEmpty &&
      Planner.choose(join.ofAll, conf).chosen.forall(_.placement.buildSide == BuildRight)
    choice.offer.isRanked ||
    !choice.join.residual.exists(PlanFacts.isEquality) &&
    (readsPairs && !OneOrder.isOfSeveral(rank) || isNarrowed)
  }

  /** A pair whose rank is null is no match anyway. */
  private def others: Seq[Expression] = conditions.flatMap(ConditionAnalysis.conjuncts).filter {
    case IsNotNull(e) => !e.semanticEquals(rank.child)
    case _ => true
  }

  /** Whether it is a join that we can run, of rows that come of themselves. */
  private def isPure: Boolean = {
    val isKnown = joinType match {
      case Inner | LeftOuter => true
      case _ => false
    }
    isKnown && k > 0 && RowOrdering.isOrderable(rank.dataType) && !PlanFacts.readsOuter(left) &&
    !PlanFacts.readsOuter(right) && (rank +: conditions).forall { e =>
      e.deterministic && !e.exists {
        case _: PlanExpression[_] | _: PythonUDF | _: OuterReference => true
        case _ => false
      }
    }
  }

  /**
   * Whether the sides are made of the same columns somewhere. Spark's optimizer drops aliases that keep a name: it
   * takes care within a Join, but not here, where both sides could end up with one column.
   */
  private def sharesColumns: Boolean = {
    def columns(side: LogicalPlan) = AttributeSet(side.collect { case node => node.output }.flatten)
    columns(left).intersect(columns(right)).nonEmpty
  }

  /** The same with a right side that is made of columns of its own. */
  private def renewed: Option[Ranked] = {
    val fresh = DeduplicateRelations(
      Join(left, PlanFacts.renamed(right), Inner, None, JoinHint.NONE)
    ).children(1)
    val names = AttributeMap(right.output.zip(fresh.output))
    def read(e: Expression) = e.transform { case a: Attribute => names.getOrElse(a, a) }
    val ranked = copy(
      right = fresh,
      conditions = conditions.map(read),
      rank = read(rank).asInstanceOf[SortOrder]
    )
    if (ranked.sharesColumns) None else Some(ranked)
  }

  private def underOldNames(join: LogicalPlan): LogicalPlan = {
    val ofRight = join.output.drop(left.output.size).zip(right.output).map { case (column, old) =>
      Alias(column, old.name)(old.exprId, old.qualifier, Some(old.metadata))
    }
    Project(left.output ++ ofRight, join)
  }
}

private object Ranked {
  private val ComputedAbove =
    "a column of a LEFT JOIN that reads both sides would be computed for rows without a match too. " +
      "Leave it out of the subquery's columns."
}
