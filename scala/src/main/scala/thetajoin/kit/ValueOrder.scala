package thetajoin.kit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Ascending,
  AttributeReference,
  BoundReference,
  InterpretedOrdering,
  RowOrdering,
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

  /** Of rows by the value at a place. */
  def at(place: Int, t: DataType): Ordering[InternalRow] = {
    val attributes = (0 to place).map(_ => AttributeReference("key", t)())
    RowOrdering.create(Seq(SortOrder(attributes(place), Ascending)), attributes)
  }

  /** Whether values of both types are compared by one order, whatever the names of their fields. */
  def isShared(l: DataType, r: DataType): Boolean = (l, r) match {
    case (StructType(ls), StructType(rs)) =>
      ls.length == rs.length && ls.zip(rs).forall { case (a, b) =>
        isShared(a.dataType, b.dataType)
      }
    case (ArrayType(a, _), ArrayType(b, _)) => isShared(a, b)
    case _ => l == r && RowOrdering.isOrderable(l) && !l.isInstanceOf[UserDefinedType[_]]
  }
}
