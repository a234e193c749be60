package thetajoin.large

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{Max, Min}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.{DataType, StringType}

import thetajoin.condition.{ConditionAnalysis, Operator, Safety, Tried}

/**
 * Leaves out rows that can have no match by the least and the greatest value of the other side, unless they are
 * preserved:
 *
 * {{{
 *   l JOIN r ON l.x < r.y   of the rows with  l.x < (SELECT max(y) FROM r)  and  r.y > (SELECT min(x) FROM l)
 * }}}
 *
 * Both sides are read once more for these. Rows whose value can't be computed stay.
 */
private[thetajoin] object Narrowed {
  def apply(join: Join): Option[Join] = {
    val (left, right) = join.joinType match {
      case _: InnerLike | LeftSemi => (true, true)
      case RightOuter => (true, false)
      case LeftOuter | LeftAnti | ExistenceJoin(_) => (false, true)
      case _ => (false, false)
    }
    // A sum over both sides has no extreme where one of its terms is beyond the limit.
    val compared = ConditionAnalysis
      .shape(join.left.output, join.right.output, join.condition).plainComparisons
      .filter(c => isKept(c.left.dataType) && isKept(c.right.dataType))
    if (compared.isEmpty || !(left || right)) None
    else {
      val ofRight = compared.map(c => (c.right, c.operator.flipped, c.left))
      val ofLeft = compared.map(c => (c.left, c.operator, c.right))
      Some(join.copy(
        left = if (left) narrowed(join.left, join.right, ofLeft) else join.left,
        right = if (right) narrowed(join.right, join.left, ofRight) else join.right
      ))
    }
  }

  /**
   * Whether Spark's max() is right. Without generated code it keeps a collated string where it lies in a row, and the
   * next row may be written there.
   */
  private def isKept(t: DataType): Boolean = t match {
    case s: StringType => s.collationId == StringType.collationId
    case _ => true
  }

  /** @param compared value, operator, value of the others */
  private def narrowed(
      rows: LogicalPlan,
      others: LogicalPlan,
      compared: Seq[(Expression, Operator, Expression)]
  ): LogicalPlan = {
    val values = compared.map { case (_, _, other) => Alias(Tried(other), "value")() }
    val extremes = compared.zip(values).map { case ((_, operator, _), value) =>
      val extreme = value.toAttribute
      (if (operator.isBelow) Max(extreme) else Min(extreme)).toAggregateExpression()
    }
    val struct = Alias(CreateStruct(extremes), "extremes")()
    val found = ScalarSubquery(Aggregate(Nil, Seq(struct), Project(values, others)))
    compared.zipWithIndex.foldLeft(rows) { case (rows, ((value, operator, _), i)) =>
      val matches = operator.of(Tried(value), GetStructField(found, i))
      Filter(if (Safety.cannotFail(value)) matches else Or(matches, IsNull(Tried(value))), rows)
    }
  }
}
