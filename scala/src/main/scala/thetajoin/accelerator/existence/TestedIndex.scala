package thetajoin.accelerator.existence

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.DataType

import thetajoin.accelerator._

/** All rows are one group. The numbers of a probe row are the values that are tested. */
final class TestedRows(test: GroupTest, isEmpty: Boolean) extends NumbersIndex {
  override def bytes: Long = test.bytes
  override def find(numbers: Array[Long]): Int = if (isEmpty) -1 else test.find(0, numbers, 0)
}

/** A group for each key of 64 bits. The numbers of a probe row are its key, then the values that are tested. */
final class TestedLongs(table: LongTable, test: GroupTest) extends NumbersIndex with KeyBounds {
  override def least: Long = table.least
  override def greatest: Long = table.greatest
  override def bytes: Long = table.bytes + test.bytes
  override def find(numbers: Array[Long]): Int = {
    val group = table.find(numbers(0))
    if (group < 0) -1 else test.find(group, numbers, 1)
  }
}

/** A group for each key of other types. */
final class TestedBytes(table: KeyTable, types: Seq[DataType], test: GroupTest)
    extends JoinIndex {
  override def bytes: Long = table.bytes + test.bytes
  override def newProber(): Prober = new TestedBytesProber(table, types, test)
}

private final class TestedBytesProber(table: KeyTable, types: Seq[DataType], test: GroupTest)
    extends OneRowProber {
  private val keyBytes = KeyBytes(types)
  private val keysOf = UnsafeProjection.create(types.toArray)
  private var values = Array.emptyLongArray

  override def probe(row: InternalRow): Unit = {
    val key: UnsafeRow = keysOf(row)
    val group = table.find(key.getBaseObject, keyBytes.offset(key), keyBytes.size(key))
    if (group < 0) found(-1)
    else {
      if (values.isEmpty) values = new Array[Long](row.numFields - types.size)
      var i = 0
      while (i < values.length) {
        values(i) = row.getLong(types.size + i)
        i += 1
      }
      found(test.find(group, values, 0))
    }
  }
}
