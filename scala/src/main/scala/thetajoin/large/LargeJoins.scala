package thetajoin.large

import org.apache.spark.sql.catalyst.expressions.{Alias, And, BinaryComparison, Expression}
import org.apache.spark.sql.catalyst.optimizer.{
  BuildLeft,
  BuildRight,
  BuildSide,
  RewritePredicateSubquery
}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.FullOuter
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{EXISTS_SUBQUERY, IN_SUBQUERY, JOIN}
import org.apache.spark.sql.execution.thetabridge.PrunedFiles

import thetajoin.Settings
import thetajoin.condition.{Comparison, ConditionAnalysis, FoundByIndex}
import thetajoin.driver.ThetaJoin
import thetajoin.logical.{
  ArrivalOrder,
  FileOfRow,
  OrAsItIs,
  RankedJoin,
  Repeatable,
  Sieve,
  StableColumns
}
import thetajoin.planner.{Choice, Placement, Planner, Sizes}

/**
 * Rewrites joins of two sides that are too large to broadcast. In a semi, anti or mark join on equality keys, the
 * right side goes through a [[Sieve]] and is shuffled by the keys, so that its size becomes known before the left
 * side moves. A join without an equality key is rewritten in the first way that there is:
 *
 *   - [[JoinByRanges]]: two comparisons give rows a key, the range that their values are in
 *   - a [[Sieve]]: few of the right rows tell whether there is a match
 *   - [[Narrowed]]: by the extreme values of one side many rows of the other may have no match
 *
 * The others are run in blocks. A full outer join is [[FullInTwo]] then, and a top-k join is [[RankedInBlocks]].
 */
object LargeJoins extends Rule[LogicalPlan] with OrAsItIs {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!Settings.Enabled.in(conf) || plan.isStreaming) plan
    else {
      lazy val mustStay = FileOfRow.isAskedIn(plan) || ArrivalOrder.mattersIn(plan)
      plan.transformUpWithPruning(_.containsAnyPattern(JOIN +: Subqueries: _*)) {
        case join: Join => orElse(join)(rewritten(join, mustStay))
        case join: RankedJoin if join.blocksAbove.isEmpty => orElse(join)(ranked(join, mustStay))
        case node: UnaryNode if node.expressions.exists(_.containsAnyPattern(Subqueries: _*)) =>
          orElse(node)(ofSubquery(node, mustStay))
      }
    }

  private val Subqueries = Seq(EXISTS_SUBQUERY, IN_SUBQUERY)

  /** Spark makes joins of EXISTS and IN after this rule. Where it would be one for us, it is made now. */
  private def ofSubquery(node: UnaryNode, mustStay: => Boolean): Option[LogicalPlan] = {
    val joined = RewritePredicateSubquery(node)
    val found = joined.transformUp { case join: Join => rewritten(join, mustStay).getOrElse(join) }
    if (found.fastEquals(joined)) None else Some(found)
  }

  private def orElse(node: LogicalPlan)(rewritten: => Option[LogicalPlan]): LogicalPlan =
    orAsItIs("a join of two large sides")(rewritten).getOrElse(node)

  /** @param mustStay whether rows must come out as they are read: see [[FileOfRow]] and [[ArrivalOrder]] */
  private def rewritten(join: Join, mustStay: => Boolean): Option[LogicalPlan] = join match {
    case ExtractEquiJoinKeys(_, _, keys, _, _, _, _, _) =>
      if (isMeasured(join) || mustStay) None else byKeys(join, keys)
    case _ => firstOf(join, mustStay)
  }

  private def byKeys(join: Join, rightKeys: Seq[Expression]): Option[LogicalPlan] = {
    def found(join: Join) = choice(join).filter(c =>
      c.placement match {
        case _: Placement.Blocks => c.join.role.probeExistence.isDefined
        case _ => false
      }
    )
    for (choice <- found(join) if found(pruned(join)).isDefined)
      yield sieved(join, choice.join, rightKeys)
  }

  /**
   * Few rows may tell whether a left row has a match, if one or two comparisons decide on it. Rows with the same
   * values go to the same partition: a task that is run again may keep another row of these.
   */
  private def byFew(join: Join): Option[LogicalPlan] =
    if (isMeasured(join) || !conf.adaptiveExecutionEnabled || !areLarge(join, Seq(BuildRight))) None
    else
      for (_ <- choice(join); planned <- Planner.sieved(ofValues(join), conf))
        yield sieved(join, planned, planned.buildKeys)

  /**
   * As if left rows came with the values that are compared, and had passed the conjuncts of their own: these may fail,
   * and make no difference to the right rows that are needed.
   */
  private def ofValues(join: Join): Join = {
    val shape = ConditionAnalysis.shape(join.left.output, join.right.output, join.condition)
    val paired =
      shape.conjuncts.filterNot(_.source.references.subsetOf(join.left.outputSet))
    val (values, conjuncts) = paired.map {
      case Comparison(BinaryComparison(one, other), left, operator, right, _, _)
          if Seq(one -> other, other -> one).contains(left -> right) =>
        val value = Alias(left, "value")()
        (Some(value), operator.of(value.toAttribute, right))
      case other => (None, other.source)
    }.unzip
    join.copy(
      left = Project(join.left.output ++ values.flatten, join.left),
      condition = conjuncts.reduceOption(And(_, _))
    )
  }

  private def sieved(join: Join, planned: ThetaJoin, by: Seq[Expression]): Join = {
    val rows = Sieve(planned.spec, planned.buildKeys, join.right)
    join.copy(right =
      if (conf.adaptiveExecutionEnabled) RepartitionByExpression(by, rows, None) else rows
    )
  }

  private def firstOf(join: Join, mustStay: => Boolean): Option[LogicalPlan] = {
    lazy val isTooLarge = areLarge(join, Sizes.both(join))
    lazy val mayReadAgain = join.children.forall(Repeatable(_)) && !mustStay
    JoinByRanges(join, conf)(isTooLarge && mayReadAgain).filter(_.isServed(conf)).map(_.joined)
      .orElse(byFew(join))
      .orElse(if (isTooLarge && !mustStay) inBlocks(join, mayReadAgain) else None)
  }

  private def inBlocks(join: Join, mayReadAgain: Boolean): Option[LogicalPlan] =
    if (isMeasured(join)) None
    else if (join.joinType == FullOuter)
      if (mayReadAgain) FullInTwo(join)(rewritten(_, mustStay = false)) else None
    else
      choice(join).map(_.placement).collect { case _: Placement.Blocks =>
        measured((if (mayReadAgain) Narrowed(join) else None).getOrElse(join))
      }

  /** Rows of unknown size count as few, as in Spark where it can only broadcast them. */
  private def ranked(join: RankedJoin, mustStay: => Boolean): Option[LogicalPlan] = {
    val ofAll = join.ofAll
    val isKnown = join.right.stats.sizeInBytes < conf.defaultSizeInBytes
    // All left rows are moved for it, and the rows of each left row from each block are sorted.
    lazy val limit =
      if (Planner.choose(join, conf).chosen.exists(Planner.takesLong))
        Sizes.limitBesideShuffle(conf)
      else Sizes.limitOfBroadcast(conf)
    if (
      isKnown && !FoundByIndex.isIn(join.rank) && ExtractEquiJoinKeys.unapply(
        ofAll
      ).isEmpty && mayBeInBlocks &&
      areLarge(ofAll, Seq(BuildRight), limit) && !mustStay
    ) Some(RankedInBlocks(join, limit)(shuffled))
    else None
  }

  private def mayBeInBlocks: Boolean = Settings.ShuffleMaxPartitionBytes.in(conf) > 0

  private def choice(join: Join): Option[Choice] =
    if (mayBeInBlocks) Planner.choose(join, conf).chosen else None

  /** A side is shuffled as it is, by the query or by this rule. */
  private def isMeasured(join: Join): Boolean =
    join.children.exists(_.isInstanceOf[RepartitionOperation])

  /**
   * Has the side shuffled that would be broadcast were it small, so that adaptive execution knows how large it is
   * before the other side moves. A block join reads the same shuffle.
   */
  private def measured(join: Join): Join =
    Sizes.both(join).head match {
      case BuildLeft => join.copy(left = shuffled(join.left))
      case BuildRight => join.copy(right = shuffled(join.right))
    }

  private def shuffled(side: LogicalPlan): LogicalPlan = {
    val columns = StableColumns(side.output)
    if (columns.isEmpty) side else RepartitionByExpression(columns, side, None)
  }

  private def areLarge(
      join: Join,
      sides: Seq[BuildSide],
      limit: BigInt = Sizes.limitBesideShuffle(conf)
  ): Boolean = Sizes.exceed(limit, join, sides, conf) &&
    Sizes.exceed(limit, pruned(join), sides, conf)

  /**
   * By the partitions that are read: Spark leaves out the others after this rule. To ask which these are may take
   * time.
   */
  private def pruned(join: Join): Join = join.mapChildren(PrunedFiles.of).asInstanceOf[Join]
}
