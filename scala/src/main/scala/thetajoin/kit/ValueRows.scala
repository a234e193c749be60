package thetajoin.kit

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Copies of rows that are sorted by values which don't fit 64 bits. */
private[thetajoin] final class ValueRows {
  import ValueRows._

  private val rows = mutable.ArrayBuffer.empty[InternalRow]
  private var rowBytes = 0L

  def size: Int = rows.size
  def apply(i: Int): InternalRow = rows(i)

  /** The rows, their order, and pages of them in that order. */
  def bytes: Long = 2 * rowBytes + (BytesOfRow + BytesOfNumber) * rows.length

  def add(row: UnsafeRow): Unit = {
    rows += row.copy()
    rowBytes += row.getSizeInBytes
  }

  /** The numbers of the rows in this order. */
  def sorted(ordering: Ordering[InternalRow]): Array[Int] =
    rows.indices.toArray.sortWith((a, b) => ordering.lt(rows(a), rows(b)))
}

private object ValueRows {

  /** The bytes of a row besides its own: two objects, and a reference. */
  private val BytesOfRow = 64L

  /** A row number while it is sorted as an object, and its place in pages. */
  private val BytesOfNumber = 40L
}
