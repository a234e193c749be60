package thetajoin.recognise

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf

import thetajoin.condition.FoundByIndex
import thetajoin.logical.Repeatable

/**
 * The rows of a join below a node that needs only the first k matches of each row of one side: see [[FirstOfWindow]]
 * and [[FirstOfAggregate]].
 *
 * @param columns the columns that a projection between them computes
 */
private[recognise] final case class JoinedRows(join: Join, columns: Option[Seq[NamedExpression]]) {

  def conditions: Seq[Expression] = join.condition.toSeq

  /** An expression of the node in terms of the columns of the join's sides, as they are in a pair. */
  def read(e: Expression): Expression = {
    val aliases = AttributeMap(columns.toSeq.flatten.collect { case a: Alias =>
      a.toAttribute -> a.child
    })
    val ofPair = AttributeMap(join.children.flatMap(_.output).map(a => a -> a))
    def toSides(e: Expression) = e.transform { case a: Attribute => ofPair.getOrElse(a, a) }
    e.transform { case a: Attribute => toSides(aliases.getOrElse(a, a)) }
  }

  def readOrder(order: SortOrder): SortOrder = order.copy(child = read(order.child))

  /** With the side as the left one whose columns these expressions read. */
  def from(groups: Seq[Expression]): Option[Sided] = {
    val read = AttributeSet.fromAttributeSets(groups.map(this.read(_).references))
    def isOf(side: LogicalPlan) = read.nonEmpty && read.subsetOf(side.outputSet)
    val Join(left, right, joinType, _, hint) = join
    joinType match {
      case _ if hint != JoinHint.NONE || conditions.exists(FoundByIndex.isIn) => None
      case Inner | LeftOuter if isOf(left) => Some(Sided(left, right, joinType, conditions))
      case Inner if isOf(right) => Some(Sided(right, left, Inner, conditions))
      case RightOuter if isOf(right) => Some(Sided(right, left, LeftOuter, conditions))
      case _ => None
    }
  }

  /** The node's rows where the join is another one with the same columns, and perhaps more. */
  def of(plan: LogicalPlan): LogicalPlan = Project(columns.getOrElse(join.output), plan)
}

/** A join. Each row of its left side needs its first k matches only. */
private[recognise] final case class Sided(
    left: LogicalPlan,
    right: LogicalPlan,
    joinType: JoinType,
    conditions: Seq[Expression]
) {

  def first(order: SortOrder, k: Int): Ranked =
    Ranked(left, right, joinType, conditions, order, k)

  /**
   * With all matches that are as low as the first one. The right side is read twice: for the first match of each
   * row, and for the matches that are equal to it.
   */
  def lowest(order: SortOrder, conf: SQLConf): Option[LogicalPlan] = {
    val isFound = conditions.flatMap(_.collect { case EqualTo(l, r) => Seq(l, r) }.flatten)
      .exists(_.semanticEquals(order.child))
    // All pairs would be looked at for the matches that are equal to it.
    if (isFound || StandIns.ofRank(order).isDefined || !Repeatable(right)) None
    else first(order, k = 1).found(conf).map { found =>
      val least = Alias(order.child, "least")()
      val condition = (conditions :+ EqualTo(order.child, least.toAttribute)).reduce(And(_, _))
      Join(
        Project(left.output :+ least, found),
        right,
        joinType,
        Some(condition),
        JoinHint.NONE
      )
    }
  }
}

private[recognise] object JoinedRows {
  def unapply(plan: LogicalPlan): Option[JoinedRows] = plan match {
    case join: Join => Some(JoinedRows(join, None))
    case Project(columns, join: Join) if columns.forall(_.deterministic) =>
      Some(JoinedRows(join, Some(columns)))
    case _ => None
  }
}
