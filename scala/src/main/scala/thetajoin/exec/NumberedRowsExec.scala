package thetajoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  GenericInternalRow,
  JoinedRow,
  UnsafeProjection
}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.thetabridge.OrderSensitiveRows

/**
 * Gives each row a number that no other has: the number of its partition, then its place there. Rows that come from a
 * shuffle may be read in another order by a task that runs again. Spark then has to run all tasks again that have
 * read the former numbers.
 */
final case class NumberedRowsExec(child: SparkPlan, number: Attribute) extends RowsInPlace {
  override def nodeName: String = "NumberedRows"
  override def output: Seq[Attribute] = child.output :+ number
  override def producedAttributes: AttributeSet = AttributeSet(number)

  override protected def withNewChildInternal(newChild: SparkPlan): NumberedRowsExec =
    copy(child = newChild)

  override protected def doExecute(): RDD[InternalRow] = {
    val types = output.map(_.dataType).toArray
    OrderSensitiveRows.map(
      child.execute(),
      (partition, rows) => {
        val place = new GenericInternalRow(1)
        val numbered = new JoinedRow
        val unsafe = UnsafeProjection.create(types)
        var next = NumberedRowsExec.first(partition)
        rows.map { row =>
          place.update(0, next)
          next += 1
          unsafe(numbered(row, place))
        }
      }
    )
  }
}

private object NumberedRowsExec {

  /** Leaves room for 8 billion rows of a partition. */
  def first(partition: Int): Long = partition.toLong << 33
}
