package thetajoin.recognise

import org.apache.spark.sql.catalyst.analysis.EliminateSubqueryAliases
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.{Inner, InnerLike, JoinType, LeftOuter}
import org.apache.spark.sql.types.IntegerType

import thetajoin.condition.Safety

/**
 * Subqueries that ask for the first row among the rows that match an outer row:
 *
 * {{{
 *   a, LATERAL (SELECT .. FROM b WHERE <condition> ORDER BY b.t DESC LIMIT 1)
 *   SELECT (SELECT max_by(b.x, b.t) FROM b WHERE <condition>) FROM a        also min_by, max and min
 * }}}
 */
private[recognise] object FirstOfSubquery {

  def lateral(join: LateralJoin): Option[LogicalPlan] = {
    val isPlain = join.condition.forall(_ == Literal.TrueLiteral)
    (joinType(join.joinType), EliminateSubqueryAliases(join.right.plan)) match {
      case (Some(joinType), FirstRowsOf(rows, orders, k)) if isPlain =>
        val conditions = rows.conditions.map(local)
        val rank = OneOrder.of(orders.map(o => o.copy(child = local(o.child))), conditions)
        val (ofPair, ofRight) = rows.columns.partition(readsOuter)
        // A left row without a match has nulls in place of all columns.
        val arePadded = ofPair.forall { column =>
          PlanFacts.notNull(local(column)).exists(rows.plan.outputSet.contains)
        }
        val isRead =
          (joinType == Inner || arePadded) && !ofPair.exists(_.isInstanceOf[OuterReference])
        rank.flatMap { rank =>
          val first = Ranked(
            join.left,
            rows.withColumns(ofRight, orders.map(_.child) ++ rows.conditions ++ ofPair),
            joinType,
            conditions,
            rank,
            k
          )
          val found = if (isRead) first.foundBeyondKeys(join.conf) else None
          if (found.isEmpty) first.note(join, join.conf)
          found.map(Project(join.left.output ++ rows.columns.map(localColumn), _))
        }
      case _ => None
    }
  }

  private def localColumn(column: NamedExpression): NamedExpression =
    if (readsOuter(column)) local(column).asInstanceOf[NamedExpression] else column.toAttribute

  private def joinType(of: JoinType): Option[JoinType] = of match {
    case _: InnerLike => Some(Inner)
    case LeftOuter => Some(LeftOuter)
    case _ => None
  }

  /** Each subquery of the node that asks for the first row becomes a join below it. */
  def scalars(node: UnaryNode): Option[LogicalPlan] = {
    val subqueries = node.expressions.flatMap(_.collect { case s: ScalarSubquery => s }).distinct
    val (below, values) =
      subqueries.foldLeft((node.child, Map.empty[ExprId, Expression])) {
        case ((below, values), subquery) =>
          joinedWith(below, subquery).fold((below, values)) { case (plan, value) =>
            (plan, values + (subquery.exprId -> value))
          }
      }
    if (values.isEmpty) None
    else {
      val read = node.mapExpressions(_.transform {
        case subquery: ScalarSubquery => values.getOrElse(subquery.exprId, subquery)
      }).withNewChildren(Seq(below))
      Some(if (read.output.size == node.output.size) read else Project(node.output, read))
    }
  }

  /** The rows of a plan with the first row of a subquery, and the subquery's value as an expression over it. */
  private def joinedWith(
      left: LogicalPlan,
      subquery: ScalarSubquery
  ): Option[(LogicalPlan, Expression)] =
    EliminateSubqueryAliases(subquery.plan) match {
      case Aggregated(of, value, order) if subquery.isCorrelated =>
        Rows.of(of).flatMap { rows =>
          val (column, rank) = (rows.read(value), rows.read(order.child))
          if (readsOuter(column)) None
          else {
            val name = Alias(column, "first")()
            val read = rank +: rows.conditions
            val right = rows.withColumns(Seq(name), read)
            val isMoved = read.map(local).forall(Safety.cannotFail) &&
              right.outputSet.intersect(left.outputSet).isEmpty
            val (part, whole) =
              if (isMoved) partWith(left, read) else (left, identity[LogicalPlan] _)
            val joined = Ranked(
              part,
              right,
              LeftOuter,
              rows.conditions.map(local),
              SortOrder(local(rank), order.direction),
              k = 1
            ).foundBeyondKeys(left.conf)
            joined.map { plan =>
              val first = name.toAttribute.withNullability(true)
              whole(plan) -> local(Aggregated.result(subquery.plan, first))
            }
          }
        }
      case _ => None
    }

  /**
   * The side of a join whose columns a subquery's expressions read, and the plan with another plan in place of that
   * side. A side has fewer rows than the join. It may have rows without a match too, for which no error may be raised.
   */
  private def partWith(
      plan: LogicalPlan,
      expressions: Seq[Expression]
  ): (LogicalPlan, LogicalPlan => LogicalPlan) = {
    val outer = AttributeSet(expressions.flatMap(_.collect { case OuterReference(a) =>
      a.toAttribute
    }))
    def isOf(side: LogicalPlan) = outer.subsetOf(side.outputSet)
    val side = plan match {
      case Join(left, _, _: InnerLike | LeftOuter, _, _) if isOf(left) => Some(left)
      case Join(_, right, _: InnerLike, _, _) if isOf(right) => Some(right)
      case _ => None
    }
    side.fold((plan, identity[LogicalPlan] _)) { side =>
      val (part, whole) = partWith(side, expressions)
      (part, other => plan.mapChildren(child => if (child eq side) whole(other) else child))
    }
  }

  private def readsOuter(e: Expression): Boolean = e.exists(_.isInstanceOf[OuterReference])

  /** An expression of a subquery where the outer row's columns are at hand. */
  private def local(e: Expression): Expression = e.transform { case OuterReference(a) => a }
}

/**
 * A subquery's rows: the rows of a plan that doesn't depend on the outer row, filtered by conditions that may.
 *
 * @param columns the selected columns, in terms of the plan's own columns
 */
private[recognise] final case class Rows(
    plan: LogicalPlan,
    conditions: Seq[Expression],
    columns: Seq[NamedExpression]
) {
  private lazy val byId = columns.map(c => c.exprId -> c).toMap

  /** An expression over the columns, in terms of the plan's own. */
  def read(e: Expression): Expression = e.transform { case a: Attribute =>
    byId.get(a.exprId) match {
      case Some(Alias(child, _)) => child
      case _ => a
    }
  }

  private def readNamed(column: NamedExpression): NamedExpression = column match {
    case a: Attribute => byId.getOrElse(a.exprId, a)
    case other => other.mapChildren(read).asInstanceOf[NamedExpression]
  }

  def selecting(selected: Seq[NamedExpression]): Rows = copy(columns = selected.map(readNamed))

  /** The plan with some columns, and with its own columns that other expressions read. */
  def withColumns(selected: Seq[NamedExpression], alsoRead: Seq[Expression]): LogicalPlan = {
    val read = AttributeSet.fromAttributeSets(alsoRead.map(_.references))
    val others = plan.output.filter(a => read.contains(a) && !selected.exists(_.exprId == a.exprId))
    Project(selected ++ others, plan)
  }
}

private[recognise] object Rows {
  def of(plan: LogicalPlan): Option[Rows] = plan match {
    case _ if !PlanFacts.readsOuter(plan) => Some(Rows(plan, Nil, plan.output))
    case Project(selected, child) if selected.forall(_.deterministic) =>
      of(child).map(_.selecting(selected))
    case Filter(condition, child) if condition.deterministic =>
      of(child).map(rows => rows.copy(conditions = rows.conditions :+ rows.read(condition)))
    case _ => None
  }
}

/** `SELECT .. ORDER BY order LIMIT k`. */
private[recognise] object FirstRowsOf {
  def unapply(plan: LogicalPlan): Option[(Rows, Seq[SortOrder], Int)] = plan match {
    case Project(selected, child) if selected.forall(_.deterministic) =>
      unapply(child).map { case (rows, orders, k) => (rows.selecting(selected), orders, k) }
    case GlobalLimit(Literal(k: Int, IntegerType), LocalLimit(_, child)) =>
      sorted(child).map { case (rows, orders) => (rows, orders, k) }
    case _ => None
  }

  private def sorted(plan: LogicalPlan): Option[(Rows, Seq[SortOrder])] = plan match {
    case Project(selected, child) if selected.forall(_.deterministic) =>
      sorted(child).map { case (rows, orders) => (rows.selecting(selected), orders) }
    case sort: Sort if sort.global =>
      Rows.of(sort.child).map { rows =>
        (rows, sort.order.map(order => order.copy(child = rows.read(order.child))))
      }
    case _ => None
  }
}

/**
 * An aggregate without keys that is the value of one of its rows: the rows, the value, and the order in which its row
 * is the first.
 */
private[recognise] object Aggregated {
  def unapply(plan: LogicalPlan): Option[(LogicalPlan, Expression, SortOrder)] = plan match {
    case aggregate: Aggregate
        if aggregate.groupingExpressions.isEmpty && aggregate.aggregateExpressions.size == 1 =>
      functions(aggregate.aggregateExpressions.head) match {
        case Seq(AggregateExpression(function, Complete, _, None, _)) =>
          FirstValue.of(function).map { case (value, order) => (aggregate.child, value, order) }
        case _ => None
      }
    case _ => None
  }

  private def functions(e: Expression): Seq[AggregateExpression] = e.collect {
    case a: AggregateExpression => a
  }

  /** The result of the aggregate if this is the value. */
  def result(plan: LogicalPlan, value: Expression): Expression = {
    val named = EliminateSubqueryAliases(plan).asInstanceOf[Aggregate].aggregateExpressions.head
    val unnamed = named match {
      case Alias(child, _) => child
      case other => other
    }
    unnamed.transform { case _: AggregateExpression => value }
  }
}
