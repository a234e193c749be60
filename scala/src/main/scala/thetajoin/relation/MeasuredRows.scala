package thetajoin.relation

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.thetabridge.Cancellation

/** Counts the rows that are read for a relation, and ends if the task or thread that reads them has been cancelled. */
private[thetajoin] final class MeasuredRows(input: Iterator[InternalRow])
    extends Iterator[InternalRow] {
  import MeasuredRows._

  private val cancellation = new Cancellation
  private var taken = 0L
  private var takenBytes = 0L

  def rows: Long = taken
  def bytes: Long = takenBytes

  override def hasNext: Boolean = input.hasNext

  override def next(): InternalRow = {
    if (taken % RowsPerCheck == 0) cancellation.check()
    val row = input.next()
    taken += 1
    takenBytes += (row match {
      case unsafe: UnsafeRow => unsafe.getSizeInBytes
      case _ => OtherRowBytes
    })
    row
  }
}

private object MeasuredRows {
  private val RowsPerCheck = 64L

  /** For rows that have no bytes of their own. */
  private val OtherRowBytes = 64L
}
