package thetajoin.ranges

import org.apache.spark.sql.catalyst.optimizer.{BuildRight, RewritePredicateSubquery}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.{EXISTS_SUBQUERY, JOIN}
import org.apache.spark.sql.execution.thetabridge.PrunedFiles
import org.apache.spark.sql.internal.SQLConf

import thetajoin.Settings
import thetajoin.planner._

/**
 * Rewrites joins without an equal key of which neither side may be broadcast, each in the first way that there is:
 *
 *   - [[JoinByRanges]]: two comparisons give rows a key, the range that their values are in
 *   - [[ExistsByFew]]: whether there is a match is known by few of the right rows
 *   - [[Narrowed]]: by the extreme values of one side many rows of the other may have no match
 *
 * What is left is run in blocks. A full outer join is [[FullInTwo]] then.
 */
object LargeJoins extends Rule[LogicalPlan] with OrAsItIs {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!Settings.Enabled.in(conf) || plan.isStreaming) plan
    else {
      lazy val mustStay = FileOfRow.isAskedIn(plan) || ArrivalOrder.mattersIn(plan)
      plan.transformUpWithPruning(_.containsAnyPattern(JOIN, EXISTS_SUBQUERY)) {
        case join: Join => orElse(join)(rewritten(join, mustStay))
        case node: UnaryNode if node.expressions.exists(_.containsPattern(EXISTS_SUBQUERY)) =>
          orElse(node)(ofSubquery(node, mustStay))
      }
    }

  /** Spark makes joins of EXISTS after this rule. Where it would be one for us, it is made now. */
  private def ofSubquery(node: UnaryNode, mustStay: => Boolean): Option[LogicalPlan] = {
    val joined = RewritePredicateSubquery(node)
    val found = joined.transformUp { case join: Join => rewritten(join, mustStay).getOrElse(join) }
    if (found.fastEquals(joined)) None else Some(found)
  }

  private def orElse(node: LogicalPlan)(rewritten: => Option[LogicalPlan]): LogicalPlan =
    orAsItIs("a join of two large sides")(rewritten).getOrElse(node)

  /** @param mustStay whether rows must come out as they are read: see [[FileOfRow]] and [[ArrivalOrder]] */
  private def rewritten(join: Join, mustStay: => Boolean): Option[LogicalPlan] =
    if (join.getTagValue(Done).isDefined) None else firstOf(join, mustStay)

  private def firstOf(join: Join, mustStay: => Boolean): Option[LogicalPlan] = {
    def byFew =
      ExistsByFew(join).filter(_ => isLarge(join)(BuildSides.exceedsBroadcast(_, BuildRight, _)))
    def isFit = join.children.forall(Repeatable(_)) && isLarge(join)(BuildSides.exceedBroadcast) &&
      !mustStay
    JoinByRanges(join, conf)(isFit).filter(_.isServed(conf)).map(_.joined)
      .orElse(byFew)
      .orElse(inParts(join).filter(_ => isFit))
  }

  private def inParts(join: Join): Option[LogicalPlan] =
    if (ExtractEquiJoinKeys.unapply(join).isDefined) None
    else FullInTwo(join)(part => Narrowed(part).getOrElse(part)).orElse(Narrowed(join))

  /** A join that is the result of this rule, in its own place. */
  private[ranges] def done(join: Join): Join = {
    join.setTagValue(Done, ())
    join
  }

  private val Done = TreeNodeTag[Unit]("thetajoin.largeJoin")

  /** By the partitions that are read: Spark leaves out the others after this rule. To ask which these are may take time. */
  private def isLarge(join: Join)(exceed: (Join, SQLConf) => Boolean): Boolean = {
    def pruned = join.mapChildren(PrunedFiles.of).asInstanceOf[Join]
    exceed(join, conf) && exceed(pruned, conf)
  }
}
