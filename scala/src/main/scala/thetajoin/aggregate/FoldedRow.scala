package thetajoin.aggregate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

/**
 * Buffers of a [[Fold]] in one row of memory after another. Build rows are added to them, and other buffers are merged.
 *
 * @param stored the columns of the build side
 */
private[aggregate] final class FoldedRow(fold: Fold, stored: Seq[Attribute]) {

  /** The buffers of no row. */
  val empty: UnsafeRow = UnsafeProjection.create(fold.initial)(InternalRow.empty).copy()

  /** The buffers. They may be pointed to other memory. */
  val row: UnsafeRow = empty.copy()
  private val joined = new JoinedRow
  private val update = MutableProjection.create(fold.updates, fold.state ++ stored).target(row)
  private val merge = MutableProjection.create(fold.merges, fold.state ++ fold.others).target(row)

  def add(buildRow: InternalRow): Unit = update(joined(row, buildRow)): Unit
  def add(buffers: UnsafeRow): Unit = merge(joined(row, buffers)): Unit
}
