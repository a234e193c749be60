package thetajoin.rowstore

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator
import org.apache.spark.sql.types.DataType

/** One column of a [[RowStore]]. */
sealed abstract class StoredColumn extends Serializable {
  def bytes: Long
  def reordered(order: Array[Int]): StoredColumn
}

/** Field `field` of the store's pages. */
final class PagedColumn(val field: Int) extends StoredColumn {
  override def bytes: Long = 0L
  override def reordered(order: Array[Int]): StoredColumn = this
}

/** A primitive array, named for generated code by [[CodeGenerator.javaType]]; `nulls` is null if there are none. */
final class FlatColumn(val values: AnyRef, val nulls: Array[Long]) extends StoredColumn {
  override def bytes: Long =
    java.lang.reflect.Array.getLength(values).toLong * FlatColumn.width(values) +
      (if (nulls == null) 0L else 8L * nulls.length)

  def isNull(position: Int): Boolean =
    nulls != null && ((nulls(position >> 6) >>> position) & 1L) != 0L

  override def reordered(order: Array[Int]): StoredColumn = {
    val target = FlatColumn.allocate(values, order.length)
    val targetNulls = if (nulls == null) null else new Array[Long]((order.length + 63) >> 6)
    FlatColumn.gather(values, target, order)
    if (nulls != null) {
      var i = 0
      while (i < order.length) {
        if (isNull(order(i))) targetNulls(i >> 6) |= 1L << i
        i += 1
      }
    }
    new FlatColumn(target, targetNulls)
  }
}

object FlatColumn {
  private[rowstore] def width(values: AnyRef): Int = (values: @unchecked) match {
    case _: Array[Long] | _: Array[Double] => 8
    case _: Array[Int] | _: Array[Float] => 4
    case _: Array[Short] => 2
    case _: Array[Byte] | _: Array[Boolean] => 1
  }

  private[rowstore] def allocate(like: AnyRef, length: Int): AnyRef =
    java.lang.reflect.Array.newInstance(like.getClass.getComponentType, length)

  private[rowstore] def gather(source: AnyRef, target: AnyRef, order: Array[Int]): Unit = {
    var i = 0
    (source, target) match {
      case (s: Array[Long], t: Array[Long]) =>
        while (i < order.length) { t(i) = s(order(i)); i += 1 }
      case (s: Array[Int], t: Array[Int]) => while (i < order.length) { t(i) = s(order(i)); i += 1 }
      case (s: Array[Double], t: Array[Double]) =>
        while (i < order.length) { t(i) = s(order(i)); i += 1 }
      case _ =>
        while (i < order.length) {
          java.lang.reflect.Array.set(target, i, java.lang.reflect.Array.get(source, order(i)))
          i += 1
        }
    }
  }
}

/** Appends one column's values. It grows by pieces, so that nothing is held twice before the end. */
private[rowstore] abstract class ColumnBuilder {
  private val full = new Pieces
  private var inOpen = 0
  private var nulls: Array[Long] = _

  /** The open piece. */
  protected def values: AnyRef

  /** Takes a copy of that length as the open piece. */
  protected def grow(capacity: Int): Unit

  protected def set(position: Int, row: InternalRow, ordinal: Int): Unit

  final def add(row: InternalRow, ordinal: Int): Unit = {
    if (inOpen == java.lang.reflect.Array.getLength(values)) growOpen()
    if (row.isNullAt(ordinal)) setNull() else set(inOpen, row, ordinal)
    inOpen += 1
  }

  private def growOpen(): Unit =
    if (inOpen < Pieces.Length) grow(inOpen * 2)
    else {
      full.add(values)
      // Another array; nothing of it is in use yet.
      grow(Pieces.Length)
      inOpen = 0
    }

  private def rows: Int = full.length + inOpen

  def bytes: Long = FlatColumn.width(values).toLong * rows + (if (nulls == null) 0L
                                                              else 8L * nulls.length)

  private def setNull(): Unit = {
    val word = rows >> 6
    if (nulls == null) nulls = new Array[Long](word + 1)
    else if (word >= nulls.length)
      nulls = Arrays.copyOf(nulls, math.max(word + 1, nulls.length * 2))
    nulls(word) |= 1L << rows
  }

  /** All values. Called once. */
  final def result(): FlatColumn = {
    val count = rows
    val whole = FlatColumn.allocate(values, count)
    full.moveTo(whole, values, inOpen)
    new FlatColumn(whole, if (nulls == null) null else Arrays.copyOf(nulls, (count + 63) >> 6))
  }
}

private[rowstore] object ColumnBuilder {
  private val FirstCapacity = 64

  def apply(t: DataType): ColumnBuilder = CodeGenerator.javaType(t) match {
    case "boolean" =>
      new ColumnBuilder {
        protected var values = new Array[Boolean](FirstCapacity)
        protected def grow(capacity: Int): Unit = values = Arrays.copyOf(values, capacity)
        protected def set(p: Int, row: InternalRow, i: Int): Unit = values(p) = row.getBoolean(i)
      }
    case "byte" =>
      new ColumnBuilder {
        protected var values = new Array[Byte](FirstCapacity)
        protected def grow(capacity: Int): Unit = values = Arrays.copyOf(values, capacity)
        protected def set(p: Int, row: InternalRow, i: Int): Unit = values(p) = row.getByte(i)
      }
    case "short" =>
      new ColumnBuilder {
        protected var values = new Array[Short](FirstCapacity)
        protected def grow(capacity: Int): Unit = values = Arrays.copyOf(values, capacity)
        protected def set(p: Int, row: InternalRow, i: Int): Unit = values(p) = row.getShort(i)
      }
    case "int" =>
      new ColumnBuilder {
        protected var values = new Array[Int](FirstCapacity)
        protected def grow(capacity: Int): Unit = values = Arrays.copyOf(values, capacity)
        protected def set(p: Int, row: InternalRow, i: Int): Unit = values(p) = row.getInt(i)
      }
    case "long" =>
      new ColumnBuilder {
        protected var values = new Array[Long](FirstCapacity)
        protected def grow(capacity: Int): Unit = values = Arrays.copyOf(values, capacity)
        protected def set(p: Int, row: InternalRow, i: Int): Unit = values(p) = row.getLong(i)
      }
    case "float" =>
      new ColumnBuilder {
        protected var values = new Array[Float](FirstCapacity)
        protected def grow(capacity: Int): Unit = values = Arrays.copyOf(values, capacity)
        protected def set(p: Int, row: InternalRow, i: Int): Unit = values(p) = row.getFloat(i)
      }
    case "double" =>
      new ColumnBuilder {
        protected var values = new Array[Double](FirstCapacity)
        protected def grow(capacity: Int): Unit = values = Arrays.copyOf(values, capacity)
        protected def set(p: Int, row: InternalRow, i: Int): Unit = values(p) = row.getDouble(i)
      }
  }
}
