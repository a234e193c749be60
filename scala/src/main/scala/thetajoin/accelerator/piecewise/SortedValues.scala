package thetajoin.accelerator.piecewise

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, UnsafeRow}
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, JoinIndex, OrderedIndex, Prober}
import thetajoin.kit.{KeyTypes, ValueOrder, ValueRows}
import thetajoin.rowstore.RowPages

/** For keys that don't fit 64 bits: strings, bytes, long decimals, structs. */
private[piecewise] final class SortedValuesBuilder(spec: PiecewiseSpec, keyType: DataType)
    extends IndexBuilder {
  private val keys = new ValueRows

  override def add(row: InternalRow): Unit = keys.add(row.asInstanceOf[UnsafeRow])
  override def bytes: Long = keys.bytes

  override def finish(): OrderedIndex = {
    val order = spec.kept(keys.sorted(ValueOrder.of(keyType, Ascending)))
    val pages = RowPages.of(order.iterator.map(keys(_)), Seq(keyType))
    OrderedIndex(new SortedValues(spec, KeyTypes(Seq(keyType)), pages), order)
  }
}

final class SortedValues(spec: PiecewiseSpec, keyType: KeyTypes, keys: RowPages) extends JoinIndex {
  override def bytes: Long = keys.bytes
  override def newProber(): Prober = new SortedValuesProber(spec, keyType.all.head, keys)
}

private final class SortedValuesProber(spec: PiecewiseSpec, keyType: DataType, keys: RowPages)
    extends BoundaryProber(spec, keys.rows) {
  private val ordering = ValueOrder.of(keyType, Ascending)
  private val cursor = keys.newCursor()
  private val beforeEqual = spec.beforeEqual

  override def probe(key: InternalRow): Unit = {
    var low = 0
    var high = keys.rows
    while (low < high) {
      val middle = (low + high) >>> 1
      val c = ordering.compare(cursor.at(middle), key)
      if (c < 0 || (c == 0 && !beforeEqual)) low = middle + 1 else high = middle
    }
    boundary(low)
  }
}
