package thetajoin.large

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, LogicalPlan, Statistics}

/**
 * One row with the bounds of ranges, an array of numbers in ascending order: quantiles of samples of both sides.
 *
 * @param leftValues one or two numbers of 64 bits of a left row, both in one range if it is to be joined by it
 * @param rightValues the same for a right row
 * @param bounds the column
 * @param shared the row that all copies of this node give
 */
final case class RangeBounds(
    left: LogicalPlan,
    right: LogicalPlan,
    leftValues: Seq[Expression],
    rightValues: Seq[Expression],
    bounds: Attribute,
    shared: SharedBounds
) extends BinaryNode {
  override def output: Seq[Attribute] = Seq(bounds)
  override def producedAttributes: AttributeSet = AttributeSet(bounds)
  override def maxRows: Option[Long] = Some(1)
  override def stats: Statistics =
    Statistics(sizeInBytes = shared.most * java.lang.Long.BYTES.toLong, rowCount = Some(1))
  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan
  ): RangeBounds = copy(left = newLeft, right = newRight)
}

/**
 * Bounds that are computed once for a join, by whichever copy of the node runs first. Rows of both sides meet if both
 * were given their ranges by the same bounds, and samples may differ from one time to the next. Tasks have no need of
 * it, but may be sent the plan.
 *
 * @param most how many there are at most
 * @param mostCrossing see [[Quantiles.bounds]]
 */
final class SharedBounds(val most: Int, mostCrossing: Long) extends Serializable {
  @transient private var found: Option[Array[Long]] = None

  private[thetajoin] def of(sampled: => Quantiles): Array[Long] = synchronized {
    if (found.isEmpty) found = Some(sampled.bounds(most, mostCrossing))
    found.get
  }
}
