package thetajoin.recognise

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{AGGREGATE, JOIN}

import thetajoin.Settings
import thetajoin.logical.OrAsItIs

/**
 * Groups of left rows that ask for values of one matching row, the first in some order:
 *
 * {{{
 *   SELECT a.id, max_by(b.x, b.t), max(b.t) FROM a JOIN b ON b.k = a.k AND b.t <= a.t GROUP BY a.id
 *   SELECT a.id, min(abs(a.t - b.t)) FROM a JOIN b ON b.k = a.k AND abs(a.t - b.t) <= 9 GROUP BY a.id
 * }}}
 *
 * The first row of a group is the first match of one of its left rows, so each left row needs its first match only.
 * The aggregate stays. Of left rows it may ask for what several equal rows do not change.
 */
object FirstOfAggregate extends Rule[LogicalPlan] with OrAsItIs {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!Settings.Enabled.in(conf) || plan.isStreaming) plan
    else plan.transformUpWithPruning(_.containsAllPatterns(AGGREGATE, JOIN)) {
      case aggregate: Aggregate =>
        orAsItIs("a join below max_by()")(firstRows(aggregate))
          .fold[LogicalPlan](aggregate)(below => aggregate.withNewChildren(Seq(below)))
    }

  private def firstRows(aggregate: Aggregate): Option[LogicalPlan] = aggregate.child match {
    case JoinedRows(rows) =>
      for {
        sided <- rows.from(aggregate.groupingExpressions)
        asked <- order(aggregate, rows, sided.left)
        order <- OneOrder.of(Seq(asked), rows.conditions)
        first <- sided.first(order, k = 1).foundBeyondKeys(conf)
      } yield rows.of(first)
    case _ => None
  }

  /** The order in which all functions ask for the first row. */
  private def order(
      aggregate: Aggregate,
      rows: JoinedRows,
      left: LogicalPlan
  ): Option[SortOrder] = {
    val functions =
      aggregate.aggregateExpressions.flatMap(_.collect { case a: AggregateExpression => a })
    val isPlain = functions.forall(f => f.mode == Complete && f.filter.isEmpty)
    val orders = functions.map(_.aggregateFunction).filterNot(isOfLeft(_, rows, left))
      .map(FirstValue.of(_).map { case (_, order) => order })
    orders.flatten match {
      case first +: others
          if isPlain && orders.forall(_.nonEmpty) && others.forall(first.semanticEquals) =>
        Some(rows.readOrder(first))
      case _ => None
    }
  }

  private def isOfLeft(
      function: AggregateFunction,
      rows: JoinedRows,
      left: LogicalPlan
  ): Boolean = function match {
    case _: Max | _: Min | _: First =>
      function.children.forall(rows.read(_).references.subsetOf(left.outputSet))
    case _ => false
  }
}

/** An aggregate that is the value of one of its rows: the value, and the order in which its row is the first. */
private[recognise] object FirstValue {
  def of(function: AggregateFunction): Option[(Expression, SortOrder)] = function match {
    case Max(value) => Some((value, order(value, Descending)))
    case Min(value) => Some((value, order(value, Ascending)))
    case MaxBy(value, by) => Some((value, order(by, Descending)))
    case MinBy(value, by) => Some((value, order(by, Ascending)))
    case _ => None
  }

  /** Nulls count for none of them. */
  private def order(value: Expression, direction: SortDirection): SortOrder =
    SortOrder(value, direction, NullsLast, Nil)
}
