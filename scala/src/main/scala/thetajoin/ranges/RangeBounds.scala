package thetajoin.ranges

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, LogicalPlan, Statistics}

/**
 * One row with the bounds of ranges, an array of numbers in ascending order: quantiles of samples of both sides.
 *
 * @param leftValues one or two numbers of 64 bits of a left row, both in one range if it is to be joined by it
 * @param rightValues the same of a right row
 * @param bounds the column
 * @param most how many bounds there are at most
 * @param mostCrossing fewer bounds are taken if more rows of both sides would not be within one range, by the samples
 * @param computed what all copies of this node give once one of them has run
 */
final case class RangeBounds(
    left: LogicalPlan,
    right: LogicalPlan,
    leftValues: Seq[Expression],
    rightValues: Seq[Expression],
    bounds: Attribute,
    most: Int,
    mostCrossing: Long,
    computed: ComputedBounds
) extends BinaryNode {
  override def output: Seq[Attribute] = Seq(bounds)
  override def producedAttributes: AttributeSet = AttributeSet(bounds)
  override def maxRows: Option[Long] = Some(1)
  override def stats: Statistics =
    Statistics(sizeInBytes = most * java.lang.Long.BYTES.toLong, rowCount = Some(1))
  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan
  ): RangeBounds = copy(left = newLeft, right = newRight)
}

/**
 * Bounds that are computed once for a join, whoever asks first. Rows of both sides meet if both were given their ranges by the same bounds, and
 * samples may differ from one time to the next. Tasks have no need of it, but may be sent the plan.
 */
final class ComputedBounds extends Serializable {
  @transient private var found: Option[Array[Long]] = None

  def orElse(compute: => Array[Long]): Array[Long] = synchronized {
    if (found.isEmpty) found = Some(compute)
    found.get
  }
}
