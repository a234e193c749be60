package thetajoin.accelerator.piecewise

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, UnsafeRow}
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, JoinIndex, OrderedIndex, Prober}
import thetajoin.kit.{KeyTypes, ValueOrder, ValueRows}
import thetajoin.rowstore.RowPages

/** For keys that don't fit 64 bits: strings, bytes, long decimals, structs. */
private[piecewise] final class SortedValuesBuilder(
    boundary: Boundary,
    extreme: Boolean,
    keyType: DataType
) extends IndexBuilder {
  private val keys = new ValueRows

  override def add(row: InternalRow): Unit = keys.add(row.asInstanceOf[UnsafeRow])
  override def bytes: Long = keys.bytes

  override def finish(): OrderedIndex = {
    val all = keys.sorted(ValueOrder.of(keyType, Ascending))
    val order = if (extreme) boundary.extreme(all) else all
    val pages = RowPages.of(order.iterator.map(keys(_)), Seq(keyType))
    OrderedIndex(new SortedValues(boundary, KeyTypes(Seq(keyType)), pages), order)
  }
}

private[piecewise] final class SortedValues(boundary: Boundary, keyType: KeyTypes, keys: RowPages)
    extends JoinIndex {
  override def bytes: Long = keys.bytes
  override def newProber(): Prober = new SortedValuesProber(boundary, keyType.all.head, keys)
}

private final class SortedValuesProber(boundary: Boundary, keyType: DataType, keys: RowPages)
    extends BoundaryProber(boundary, keys.rows) {
  private val ordering = ValueOrder.of(keyType, Ascending)
  private val cursor = keys.newCursor()
  private val beforeEqual = boundary.beforeEqual

  override def probe(key: InternalRow): Unit = {
    var low = 0
    var high = keys.rows
    while (low < high) {
      val middle = (low + high) >>> 1
      val c = ordering.compare(cursor.at(middle), key)
      if (c < 0 || (c == 0 && !beforeEqual)) low = middle + 1 else high = middle
    }
    runAt(low)
  }
}
