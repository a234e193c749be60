package thetajoin.recognise

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.rules.Rule

import thetajoin.Settings
import thetajoin.condition.ConditionAnalysis
import thetajoin.logical.OrAsItIs

/**
 * `row_number() OVER (PARTITION BY a.id ORDER BY b.t DESC) <= k` above a join: only the first `k` matching rows of
 * each left row can be among the first `k` of its partition. The window above the join stays, since several left rows
 * may be of one partition.
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
    window.windowExpressions match {
      case Seq(number @ Alias(WindowExpression(_: RowNumber, _), _)) =>
        window.child match {
          case join: Join => ofJoin(join, join.output, most(condition, number), window)
          case Project(columns, join: Join) if columns.forall(_.deterministic) =>
            ofJoin(join, columns, most(condition, number), window).map(Project(columns, _))
          case _ => None
        }
      case _ => None
    }

  private def ofJoin(
      join: Join,
      columns: Seq[NamedExpression],
      most: Option[Int],
      window: Window
  ): Option[LogicalPlan] = {
    val conditions = join.condition.toSeq
    val orders = window.orderSpec.map(order => order.copy(child = read(order.child, columns)))
    val isOfLeft =
      window.partitionSpec.map(read(_, columns)).forall(_.references.subsetOf(join.left.outputSet))
    val isKnown = join.joinType == Inner || join.joinType == LeftOuter
    if (isKnown && isOfLeft && window.partitionSpec.nonEmpty && join.hint == JoinHint.NONE)
      for {
        k <- most
        rank <- OneOrder.of(orders, conditions)
        found <- Ranked(join.left, join.right, join.joinType, conditions, rank, k).found(conf)
      } yield found
    else None
  }

  private def read(e: Expression, columns: Seq[NamedExpression]): Expression = {
    val aliases = AttributeMap(columns.collect { case a: Alias => a.toAttribute -> a.child })
    e.transform { case a: Attribute => aliases.getOrElse(a, a) }
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
