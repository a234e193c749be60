package thetajoin.accelerator.existence

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.contract.{IndexBuilder, OrderedIndex}
import thetajoin.kit.IntsBuilder
import thetajoin.kit.keys.LongSet

/** Keeps each key once, and of the rows the first of each key. */
private[existence] final class DistinctLongsBuilder extends IndexBuilder {
  private val keys = new LongSet
  private val firsts = new IntsBuilder
  private var rows = 0

  override def add(row: InternalRow): Unit = {
    if (keys.add(row.getLong(0))) firsts.add(rows)
    rows += 1
  }

  override def bytes: Long = keys.bytes + 2 * firsts.bytes

  override def finish(): OrderedIndex = OrderedIndex(keys.table(), firsts.result())
}
