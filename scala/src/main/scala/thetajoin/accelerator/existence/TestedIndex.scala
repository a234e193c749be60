package thetajoin.accelerator.existence

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.DataType

import thetajoin.accelerator._

/** Groups of rows that are tested, where the numbers of a probe row are its key, if there is one, and its values. */
private[existence] abstract class TestedNumbers extends JoinIndex with LongsMembership {

  /** The position of a row that matches; -1 if none does. */
  def find(numbers: Array[Long]): Int

  final override def contains(numbers: Array[Long]): Boolean = find(numbers) >= 0
  final override def newProber(): Prober = new TestedNumbersProber(this)
}

/** All rows are one group. */
final class TestedRows(test: GroupTest, isEmpty: Boolean) extends TestedNumbers {
  override def bytes: Long = test.bytes
  override def find(numbers: Array[Long]): Int = if (isEmpty) -1 else test.find(0, numbers, 0)
}

/** A group for each key of 64 bits. */
final class TestedLongs(table: LongTable, test: GroupTest) extends TestedNumbers with KeyBounds {
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

/** One row at most is a candidate, whatever others match. */
private abstract class OneRowProber extends SingleRunProber {
  protected final def found(position: Int): Unit =
    if (position < 0) run(0, 0) else run(position, position + 1)
}

private final class TestedNumbersProber(index: TestedNumbers) extends OneRowProber {
  private var numbers = Array.emptyLongArray

  override def probe(row: InternalRow): Unit = {
    if (numbers.isEmpty) numbers = new Array[Long](row.numFields)
    var i = 0
    while (i < numbers.length) {
      numbers(i) = row.getLong(i)
      i += 1
    }
    found(index.find(numbers))
  }
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
