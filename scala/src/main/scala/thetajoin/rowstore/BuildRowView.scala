package thetajoin.rowstore

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BaseGenericInternalRow
import org.apache.spark.sql.types.DataType

/** One build row at a time as Spark's interpreted expressions read it: move it with `at`. */
final class BuildRowView(store: RowStore, types: Array[DataType]) extends InternalRow
    with BaseGenericInternalRow {
  private val cursor = store.pages.newCursor()
  private var position = 0

  def at(newPosition: Int): InternalRow = {
    position = newPosition
    this
  }

  override def numFields: Int = types.length

  override protected def genericGet(ordinal: Int): Any = store.columns(ordinal) match {
    case flat: FlatColumn =>
      if (flat.isNull(position)) null else java.lang.reflect.Array.get(flat.values, position)
    case paged: PagedColumn => cursor.at(position).get(paged.field, types(ordinal))
  }

  override def isNullAt(ordinal: Int): Boolean = store.columns(ordinal) match {
    case flat: FlatColumn => flat.isNull(position)
    case paged: PagedColumn => cursor.at(position).isNullAt(paged.field)
  }

  override def getLong(ordinal: Int): Long = flat(ordinal).asInstanceOf[Array[Long]](position)
  override def getInt(ordinal: Int): Int = flat(ordinal).asInstanceOf[Array[Int]](position)
  override def getDouble(ordinal: Int): Double = flat(ordinal).asInstanceOf[Array[Double]](position)

  private def flat(ordinal: Int): AnyRef = store.columns(ordinal).asInstanceOf[FlatColumn].values

  override def setNullAt(i: Int): Unit = throw new UnsupportedOperationException("read-only row")
  override def update(i: Int, value: Any): Unit =
    throw new UnsupportedOperationException("read-only row")
}
