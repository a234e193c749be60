package thetajoin.recognise

import org.apache.spark.sql.catalyst.expressions._

import thetajoin.condition.OrderedLong

/**
 * An order by several values as an order by one, a struct of them. A value in the other direction than the first one
 * is negated as a number. Nulls must come where Spark has them by default, since a struct has them there.
 *
 * {{{
 *   ORDER BY t DESC, id        ORDER BY struct(t, ~id) DESC
 * }}}
 */
private[recognise] object OneOrder {
  def of(orders: Seq[SortOrder]): Option[SortOrder] = orders match {
    case Seq(one) => Some(one)
    case Seq(first, _*) if orders.forall(o => o.nullOrdering == o.direction.defaultNullOrdering) =>
      val values = orders.map(o => value(o, isTurned = o.direction != first.direction))
      if (values.forall(_.nonEmpty)) Some(SortOrder(CreateStruct(values.flatten), first.direction))
      else None
    case _ => None
  }

  def isOfSeveral(order: SortOrder): Boolean = order.child.isInstanceOf[CreateNamedStruct]

  /** Nulls would be at the other end among negated numbers. */
  private def value(order: SortOrder, isTurned: Boolean): Option[Expression] =
    if (!isTurned) Some(order.child)
    else if (order.child.nullable || !OrderedLong.orders(order.dataType)) None
    else Some(BitwiseNot(OrderedLong(order.child)))
}
