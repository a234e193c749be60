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

  /** After the last row the bytes of all rows are released, since an index is then made of the rows that were read. */
  override def hasNext: Boolean = rows.hasNext || {
    rows = Iterator.empty
    false
  }

  override def next(): InternalRow = rows.next()

  /**
   * The rows once more, after all structures made of them are released, and all else that can be. None if that frees
   * fewer than these bytes, so that they would fare as before. Reading them then may fill the heap in a task, which
   * ends its process.
   */
  def again(least: Long): Option[Iterator[InternalRow]] = {
    rows = Iterator.empty
    if (DriverMemory.makeRoom(Long.MaxValue) < least) None
    else {
      rows = read()
      Some(rows)
    }
  }
}
