package thetajoin.accelerator.piecewise

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Ascending
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, JoinIndex, OrderedIndex, Prober}
import thetajoin.kit.{KeyTypes, ValueOrder}
import thetajoin.rowstore.RowPages

/** For keys that don't fit 64 bits: strings, bytes, long decimals, structs. */
private[piecewise] final class SortedValuesBuilder(spec: PiecewiseSpec, keyType: DataType)
    extends IndexBuilder {
  private val keys = mutable.ArrayBuffer.empty[InternalRow]

  override def add(row: InternalRow): Unit = keys += row.copy()

  override def finish(): OrderedIndex = {
    val ordering = ValueOrder.of(keyType, Ascending)
    val byKey = keys.indices.toArray.sortWith((a, b) => ordering.lt(keys(a), keys(b)))
    val order = spec.kept(byKey)
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
