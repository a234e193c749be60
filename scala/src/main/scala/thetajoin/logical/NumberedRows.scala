package thetajoin.logical

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.types.LongType

/** Gives each row a number that no other has. */
final case class NumberedRows(child: LogicalPlan, number: Attribute) extends UnaryNode {
  override def output: Seq[Attribute] = child.output :+ number
  override def producedAttributes: AttributeSet = AttributeSet(number)
  override def maxRows: Option[Long] = child.maxRows
  override protected def withNewChildInternal(newChild: LogicalPlan): NumberedRows =
    copy(child = newChild)
}

object NumberedRows {
  def apply(child: LogicalPlan): NumberedRows =
    NumberedRows(child, AttributeReference("number", LongType, nullable = false)())
}
