package thetajoin.accelerator.wildcard

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection}
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.kit.keys.{KeyBytes, NumberedValues}

/** Reads a column of key rows. For one task. */
private final class ColumnReader(t: DataType, column: Int) {
  private val isLong = t == LongType
  private val bytes = KeyBytes(Seq(t))
  private lazy val toRow = UnsafeProjection.create(Seq(BoundReference(column, t, nullable = false)))

  /** The number of the value, which is not null. */
  def numberOf(keys: InternalRow, values: NumberedValues): Int =
    if (isLong) values.numberOf(keys.getLong(column))
    else {
      val value = toRow(keys)
      values.numberOf(value.getBaseObject, bytes.offset(value), bytes.size(value))
    }
}

private object ColumnReader {
  def ofAll(types: Seq[DataType]): Array[ColumnReader] =
    types.zipWithIndex.map { case (t, i) => new ColumnReader(t, i) }.toArray
}
