package thetajoin.recognise

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types._

import thetajoin.condition.{ConditionAnalysis, LocalTime, OrderedBy, Safety, Sides}

/** Spark's own top-k joins. */
private[recognise] object SparksRanked {

  def asOf(join: AsOfJoin): Option[LogicalPlan] = {
    val conditions = (join.condition ++ Seq(join.asOfCondition)).toSeq
    val order = rank(join)
    if (isNested(order.dataType)) None
    else Ranked(join.left, join.right, join.joinType, conditions, order, k = 1).taken(join.conf)
  }

  /**
   * Of the rows below or above a bound the one next to it: the value alone orders them. Where the differences by
   * which Spark orders them may come in another order, and without such a bound, they do.
   */
  private def rank(join: AsOfJoin): SortOrder = {
    val sides = new Sides(join.left.outputSet, join.right.outputSet)
    ConditionAnalysis.conjuncts(join.asOfCondition).headOption match {
      case Some(OrderedBy(l, operator, r))
          if sides.ofLeft(l) && sides.ofRight(r) &&
            (isMerged(join) || isOrderedAs(join.orderExpression, l, r)) =>
        SortOrder(r, if (operator.isBelow) Ascending else Descending)
      case _ => SortOrder(join.orderExpression, Ascending)
    }
  }

  /** Whether Spark sorts both sides and takes the next row, as it does for SQL text from 4.3 on. */
  private def isMerged(join: AsOfJoin): Boolean =
    join.productElementNames.zip(join.productIterator).contains(
      ("requiresSortMergeAsOfJoin", true)
    ) || join.conf.getConfString("spark.sql.join.sortMergeAsOfJoin.enabled", "false").toBoolean

  /**
   * Whether a difference of two values, the greater one first, is less if they are closer together, is never null,
   * and fails if it has no place.
   */
  private def isOrderedAs(difference: Expression, l: Expression, r: Expression): Boolean = {
    def isSame(a: Expression, b: Expression) = narrowest(a).semanticEquals(narrowest(b))
    def isOf(a: Expression, b: Expression) =
      isSame(l, a) && isSame(r, b) || isSame(l, b) && isSame(r, a)
    difference match {
      case s @ Subtract(a, b, _) if isOf(a, b) =>
        s.dataType match {
          // Infinity less infinity is NaN, which comes last.
          case DoubleType | FloatType => false
          // Where it has no place, it may be null.
          case d: DecimalType => d.precision < DecimalType.MAX_PRECISION
          case _ => Safety.neverWraps(s)
        }
      case s: SubtractTimestamps if isOf(s.left, s.right) && l.dataType == TimestampType =>
        s.dataType.isInstanceOf[DayTimeIntervalType] && s.timeZoneId.flatMap(LocalTime.of).isEmpty
      case other if other.children.size == 2 && isOf(other.children.head, other.children(1)) =>
        other.dataType.isInstanceOf[DayTimeIntervalType]
      case _ => false
    }
  }

  /** A comparison casts decimals to one type, which a difference does not. */
  private def narrowest(e: Expression): Expression = e match {
    case Cast(child, to: DecimalType, _, _) if Safety.widens(child.dataType, to) => child
    case other => other
  }

  /**
   * Whether Spark orders such values by the differences of their fields: no order of theirs, where a field is null or
   * text.
   */
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
