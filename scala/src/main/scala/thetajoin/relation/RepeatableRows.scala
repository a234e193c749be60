package thetajoin.relation

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.thetabridge.DriverMemory

/**
 * Rows that can be read once more from the start.
 *
 * @param first the rows as they are read at first
 * @param read reads them again
 */
private[thetajoin] final class RepeatableRows(
    first: Iterator[InternalRow],
    read: () => Iterator[InternalRow]
) extends Iterator[InternalRow] {
  private var rows = first

  override def hasNext: Boolean = rows.hasNext
  override def next(): InternalRow = rows.next()

  /** When all that has been made of them is let go of, and all else that can be. */
  def again(): Iterator[InternalRow] = {
    rows = Iterator.empty
    DriverMemory.makeRoom(Long.MaxValue)
    rows = read()
    rows
  }
}
