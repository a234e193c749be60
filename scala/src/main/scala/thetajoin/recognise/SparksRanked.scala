package thetajoin.recognise

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types._

import thetajoin.condition.{ConditionAnalysis, OrderedBy, Sides}

/** Spark's own joins with the first matches. */
private[recognise] object SparksRanked {

  def asOf(join: AsOfJoin): Option[LogicalPlan] = {
    val conditions = (join.condition ++ Seq(join.asOfCondition)).toSeq
    val order = rank(join)
    if (isNested(order.dataType)) None
    else Ranked(join.left, join.right, join.joinType, conditions, order, k = 1).taken(join.conf)
  }

  /**
   * Of the rows below or above a bound the one next to it: the value alone orders them, and no difference has to be computed, which might
   * overflow, and which values such as strings and times don't have. Without such a bound by what Spark orders them.
   */
  private def rank(join: AsOfJoin): SortOrder = {
    val sides = new Sides(join.left.outputSet, join.right.outputSet)
    ConditionAnalysis.conjuncts(join.asOfCondition).headOption match {
      case Some(OrderedBy(l, operator, r)) if sides.ofLeft(l) && sides.ofRight(r) =>
        SortOrder(r, if (operator.isBelow) Ascending else Descending)
      case _ => SortOrder(join.orderExpression, Ascending)
    }
  }

  /** Whether Spark orders such values by the differences of their fields: no order of theirs, where a field is null or text. */
  private def isNested(t: DataType): Boolean = t match {
    case _: StructType | _: ArrayType | _: UserDefinedType[_] => true
    case _ => false
  }

  /** `NEAREST k BY`, which Spark has from 4.2 on. */
  def nearestBy(join: BinaryNode): Option[LogicalPlan] =
    if (join.nodeName != "NearestByJoin") None
    else {
      val fields = join.productElementNames.zip(join.productIterator).toMap
      val direction =
        if (fields("direction").toString == "NearestBySimilarity") Descending else Ascending
      Ranked(
        join.left,
        join.right,
        fields("joinType").asInstanceOf[JoinType],
        conditions = Nil,
        SortOrder(fields("rankingExpression").asInstanceOf[Expression], direction),
        fields("numResults").asInstanceOf[Int],
        isApproximate = fields("approx").asInstanceOf[Boolean]
      ).taken(join.conf)
    }
}
