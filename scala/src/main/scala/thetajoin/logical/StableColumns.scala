package thetajoin.logical

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.types._

/**
 * The columns by which rows are repartitioned. A task that is run again must give a row the same ones: a sum of
 * floating-point numbers is another one in another order of its terms.
 */
private[thetajoin] object StableColumns {
  def apply(output: Seq[Attribute]): Seq[Attribute] = output.filter(a => isStable(a.dataType))

  private def isStable(dataType: DataType): Boolean = dataType match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | _: DecimalType => true
    case DateType | TimestampType | TimestampNTZType => true
    case _: StringType | BinaryType => true
    case _ => false
  }
}
