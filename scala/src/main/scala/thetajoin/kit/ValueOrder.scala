package thetajoin.kit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  InterpretedOrdering,
  SortDirection,
  SortOrder
}
import org.apache.spark.sql.types._

import thetajoin.condition.OrderedLong

/** The order of values that may not fit 64 bits: strings, bytes, long decimals, structs. */
object ValueOrder {

  /** The part of a type whose values no index orders as Spark does, if there is one. */
  def unordered(t: DataType): Option[DataType] = t match {
    case s: StringType => if (s.collationId == StringType.collationId) None else Some(s)
    case _ if OrderedLong.orders(t) => None
    case BinaryType | _: DecimalType => None
    case s: StructType => s.fields.iterator.flatMap(f => unordered(f.dataType)).nextOption()
    case a: ArrayType => unordered(a.elementType)
    case other => Some(other)
  }

  /** Of rows that hold such a value and nothing else. */
  def of(t: DataType, direction: SortDirection): Ordering[InternalRow] =
    new InterpretedOrdering(Seq(SortOrder(BoundReference(0, t, nullable = false), direction)))
}
