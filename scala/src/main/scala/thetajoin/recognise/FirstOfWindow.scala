package thetajoin.recognise

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule

import thetajoin.Settings
import thetajoin.condition.ConditionAnalysis
import thetajoin.logical.OrAsItIs

/**
 * `row_number() OVER (PARTITION BY a.id ORDER BY b.t DESC) <= k` above a join: only the first `k` matching rows of
 * each left row can be among the first `k` of its partition. With `rank() = 1` these are all rows that are as low as
 * the first one. The window above the join stays, since several left rows may be of one partition.
 */
object FirstOfWindow extends Rule[LogicalPlan] with OrAsItIs {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!Settings.Enabled.in(conf) || plan.isStreaming) plan
    else plan.transformUp {
      case filter @ Filter(condition, window: Window) =>
        val first = orAsItIs("a join below row_number()")(firstRows(condition, window))
        first.fold[LogicalPlan](filter)(below => Filter(condition, window.copy(child = below)))
    }

  private def firstRows(condition: Expression, window: Window): Option[LogicalPlan] =
    (window.windowExpressions, window.child) match {
      case (Seq(number @ Alias(WindowExpression(function, _), _)), JoinedRows(rows)) =>
        for {
          sided <- rows.from(window.partitionSpec)
          k <- most(condition, number)
          order <- OneOrder.of(window.orderSpec.map(rows.readOrder), rows.conditions)
          first <- function match {
            case _: RowNumber => sided.first(order, k).found(conf)
            case _: Rank | _: DenseRank if k == 1 => sided.lowest(order, conf)
            case _ => None
          }
        } yield rows.of(first)
      case _ => None
    }

  /** The greatest row number that passes, if it is known. */
  private def most(condition: Expression, number: NamedExpression): Option[Int] = {
    def isNumber(e: Expression) = e.semanticEquals(number.toAttribute)
    ConditionAnalysis.conjuncts(condition).collect {
      case EqualTo(n, Literal(k: Int, _)) if isNumber(n) => k
      case EqualTo(Literal(k: Int, _), n) if isNumber(n) => k
      case LessThanOrEqual(n, Literal(k: Int, _)) if isNumber(n) => k
      case GreaterThanOrEqual(Literal(k: Int, _), n) if isNumber(n) => k
      case LessThan(n, Literal(k: Int, _)) if isNumber(n) => k - 1
      case GreaterThan(Literal(k: Int, _), n) if isNumber(n) => k - 1
    }.minOption.filter(_ > 0)
  }
}
