package thetajoin.recognise

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.streaming.OutputMode

import thetajoin.Settings
import thetajoin.logical.OrAsItIs

/**
 * Turns top-k joins into [[thetajoin.logical.RankedJoin]]s: Spark's own ASOF joins and NEAREST BY, and subqueries
 * that ask for the first row. Spark's optimizer would look at all matches. It runs between the analyzer and the
 * optimizer, and on plans of cached tables. A failure of ours leaves the join to Spark.
 */
object RecogniseRanked extends Rule[LogicalPlan] with OrAsItIs {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!Settings.Enabled.in(conf) || mayHaveState(plan)) plan
    else plan.transformUpWithSubqueries {
      case join: AsOfJoin if join.resolved => orElse(join)(SparksRanked.asOf(join))
      case join: LateralJoin if join.resolved => orElse(join)(FirstOfSubquery.lateral(join))
      case node @ (_: Project | _: Filter) if hasSubquery(node) =>
        orElse(node)(FirstOfSubquery.scalars(node.asInstanceOf[UnaryNode]))
      case join: BinaryNode if join.resolved => orElse(join)(SparksRanked.nearestBy(join))
    }

  /**
   * Whether Spark may run a streaming query with state for these joins, which a checkpoint then has. It refuses one
   * that appends and has no watermark.
   */
  private def mayHaveState(plan: LogicalPlan): Boolean =
    plan.isStreaming && (plan.exists(_.isInstanceOf[EventTimeWatermark]) ||
      !plan.exists(_.productIterator.contains(OutputMode.Append)))

  private def hasSubquery(node: LogicalPlan): Boolean =
    node.resolved && node.expressions.exists(_.exists(_.isInstanceOf[ScalarSubquery]))

  private def orElse(node: LogicalPlan)(ranked: => Option[LogicalPlan]): LogicalPlan =
    orAsItIs("a join with the first matches")(ranked).getOrElse(node)
}
