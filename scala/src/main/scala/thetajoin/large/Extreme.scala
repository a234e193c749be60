package thetajoin.large

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Max, Min}

import thetajoin.condition.Operator

/** Of the values that stand to the right of an operator, the one that the most values to its left match. */
private[thetajoin] object Extreme {
  def apply(operator: Operator, value: Expression): AggregateExpression =
    (if (operator.isBelow) Max(value) else Min(value)).toAggregateExpression()
}
