package thetajoin.recognise

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import thetajoin.condition.OrderedLong

/**
 * An order by one value that is never null, in place of an order by several values or by one that may be null.
 *
 * {{{
 *   ORDER BY t DESC, id           ORDER BY struct(t, ~id) DESC
 *   ORDER BY t NULLS LAST         ORDER BY struct(t IS NULL, t)
 * }}}
 *
 * A struct has a null below all other values. A number in the other direction than the first value is negated.
 */
private[recognise] object OneOrder {

  /** @param conditions of the pairs that are ordered */
  def of(orders: Seq[SortOrder], conditions: Seq[Expression]): Option[SortOrder] = orders match {
    case Seq(one)
        if PlanFacts.isNeverNull(one.child, conditions) || StandIns.ofRank(one).isDefined =>
      Some(one)
    case Seq(one) if hasRoom(one) =>
      val ofNull = if (isNullLowest(one, one.direction)) Long.MinValue else Long.MaxValue
      Some(SortOrder(Coalesce(Seq(OrderedLong(one.child), Literal(ofNull))), one.direction))
    case Seq(first, _*) =>
      val values = orders.map(fields(_, first.direction, conditions))
      if (values.forall(_.nonEmpty)) Some(SortOrder(CreateStruct(values.flatten), first.direction))
      else None
    case _ => None
  }

  def isOfSeveral(order: SortOrder): Boolean = order.child.isInstanceOf[CreateNamedStruct]

  /** A value as fields of a struct in this direction. None if it cannot be negated. */
  private def fields(
      order: SortOrder,
      direction: SortDirection,
      conditions: Seq[Expression]
  ): Seq[Expression] = {
    val value = order.child
    val isPlain =
      isNullLowest(order, direction) || PlanFacts.isNeverNull(value, conditions)
    val flag = if (isPlain) Nil else Seq(IsNull(value))
    if (order.direction == direction) flag :+ value
    else if (OrderedLong.orders(value.dataType)) flag :+ BitwiseNot(OrderedLong(value))
    else Nil
  }

  private def isNullLowest(order: SortOrder, direction: SortDirection): Boolean =
    (order.nullOrdering == NullsFirst) == (direction == Ascending)

  /** Whether the numbers of such values leave room for another one where null comes. */
  private def hasRoom(order: SortOrder): Boolean = (order.dataType, order.child) match {
    case (ByteType | ShortType | IntegerType | DateType | FloatType | DoubleType, _) => true
    case (t @ (LongType | _: DayTimeIntervalType), abs: Abs) =>
      isNullLowest(order, order.direction) &&
      Try(abs.withNewChildren(Seq(Literal(Long.MinValue, t))).eval()).isFailure
    case _ => false
  }
}
