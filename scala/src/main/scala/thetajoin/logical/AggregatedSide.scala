package thetajoin.logical

import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeMap,
  AttributeSet,
  Expression
}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

import thetajoin.aggregate.Fold

/**
 * Joins below an aggregate whose functions read one side, by columns of the other side or by none. If that side is
 * built, no pair has to be listed. Parents are planned before their children, so that a join is marked when it is
 * asked for.
 */
private[thetajoin] object AggregatedSide {
  private val sides = TreeNodeTag[Set[BuildSide]]("thetajoin.aggregatedSides")

  def mark(aggregate: Aggregate): Unit = aggregate.child match {
    case join: Join => mark(aggregate, join, AttributeMap.empty)
    case Project(columns, join: Join) =>
      val values = columns.collect { case a: Alias => a.toAttribute -> a.child }
      mark(aggregate, join, AttributeMap(values))
    case _ =>
  }

  def isAggregated(join: LogicalPlan, side: BuildSide): Boolean =
    join.getTagValue(sides).exists(_.contains(side))

  /** @param values what the columns between aggregate and join stand for */
  private def mark(aggregate: Aggregate, join: Join, values: AttributeMap[Expression]): Unit = {
    def read(es: Seq[Expression]): AttributeSet = AttributeSet(es.map(_.transform {
      case a: Attribute => values.getOrElse(a, a)
    }))
    val functions =
      aggregate.aggregateExpressions.flatMap(_.collect { case f: AggregateExpression => f })
    val ofGroups = read(aggregate.groupingExpressions)
    def isOnlyAggregated(side: LogicalPlan, other: LogicalPlan): Boolean = {
      def isOf(f: AggregateExpression, side: LogicalPlan) = read(Seq(f)).subsetOf(side.outputSet)
      functions.exists(isOf(_, side)) && ofGroups.subsetOf(other.outputSet) &&
      functions.forall(f => isOf(f, side) || isOf(f, other) && Fold.ignoresRepeats(f))
    }
    val left = if (isOnlyAggregated(join.left, join.right)) Set[BuildSide](BuildLeft) else Set()
    val right = if (isOnlyAggregated(join.right, join.left)) Set[BuildSide](BuildRight) else Set()
    join.setTagValue(sides, left ++ right)
  }
}
