package thetajoin.rowstore

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection}
import org.apache.spark.sql.types.DataType

/**
 * Build rows by position. Columns that fit a Java primitive are flat arrays; the others are fields of rows in
 * pages. For columns (bigint, string, int): `columns = (long[], field 0 of pages, int[])`.
 */
final class RowStore(val rows: Int, val columns: Array[StoredColumn], val pages: RowPages)
    extends Serializable {
  def bytes: Long = columns.iterator.map(_.bytes).sum + pages.bytes
}

object RowStore {

  /** Rows without kept columns. */
  def ofNoColumns(rows: Int): RowStore =
    new RowStore(rows, Array.empty, new RowPacker(0).result())

  /** Whether columns of the type are flat arrays. */
  def isFlat(t: DataType): Boolean = CodeGenerator.isPrimitiveType(t)

  /** For each column, its field in the pages; -1 for a flat one. */
  def pageFields(types: Seq[DataType]): Seq[Int] =
    types.scanLeft(0)((field, t) => if (isFlat(t)) field else field + 1).zip(types).map {
      case (field, t) =>
        if (isFlat(t)) -1 else field
    }
}

/** Collects rows in arrival order. */
final class RowStoreBuilder(types: Seq[DataType]) {
  private val flat = types.zipWithIndex.filter { case (t, _) => RowStore.isFlat(t) }
  private val flatBuilders = flat.map { case (t, _) => ColumnBuilder(t) }.toArray
  private val flatOrdinals = flat.map { case (_, ordinal) => ordinal }.toArray
  private val paged = types.zipWithIndex.filterNot { case (t, _) => RowStore.isFlat(t) }
  private val toPage =
    if (paged.isEmpty) null
    else UnsafeProjection.create(paged.map { case (t, ordinal) =>
      BoundReference(ordinal, t, nullable = true)
    })
  private val packer = new RowPacker(paged.size)
  private var rows = 0

  /**
   * The most that it holds at once if no more rows come: all of them as they came, and in another order as many of
   * their columns as are copied together.
   */
  def bytes: Long = {
    val columns = flatBuilders.map(_.bytes)
    columns.sum + columns.maxOption.getOrElse(0L) + 2 * packer.bytes
  }

  def add(row: InternalRow): Unit = {
    var i = 0
    while (i < flatBuilders.length) {
      flatBuilders(i).add(row, flatOrdinals(i))
      i += 1
    }
    if (toPage != null) packer.add(toPage(row))
    rows += 1
  }

  /**
   * The rows with the numbers in `order`, in that order. Called once: flat columns are released one by one, so that
   * only one of them is held twice.
   */
  def result(order: Array[Int]): RowStore = {
    val isArrival = isIdentity(order)
    val fields = RowStore.pageFields(types)
    val columns = types.indices.map { i =>
      val at = flatOrdinals.indexOf(i)
      if (at < 0) new PagedColumn(fields(i))
      else {
        val column = flatBuilders(at).result()
        flatBuilders(at) = null
        if (isArrival) column else column.reordered(order)
      }
    }
    val pages = packer.result()
    new RowStore(
      order.length,
      columns.toArray[StoredColumn],
      if (isArrival || pages.rows == 0) pages else pages.reordered(order)
    )
  }

  private def isIdentity(order: Array[Int]): Boolean = {
    var i = 0
    while (i < order.length && order(i) == i) i += 1
    i == order.length && i == rows
  }
}
