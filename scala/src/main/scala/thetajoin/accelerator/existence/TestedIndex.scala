package thetajoin.accelerator.existence

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.accelerator._
import thetajoin.accelerator.keys.{Groups, LongTable}

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
final class TestedBytes(groups: Groups.OfBytes, test: GroupTest) extends JoinIndex {
  override def bytes: Long = groups.bytes + test.bytes
  override def newProber(): Prober = new TestedBytesProber(groups, test)
}

private final class TestedBytesProber(groups: Groups.OfBytes, test: GroupTest)
    extends OneRowProber {
  private val finder = new Groups.Finder(groups)
  private val keys = groups.types.size
  private var values = Array.emptyLongArray

  override def probe(row: InternalRow): Unit = {
    val group = finder.find(row)
    if (group < 0) found(-1)
    else {
      if (values.isEmpty) values = new Array[Long](row.numFields - keys)
      var i = 0
      while (i < values.length) {
        values(i) = row.getLong(keys + i)
        i += 1
      }
      found(test.find(group, values, 0))
    }
  }
}

private[existence] object TestedIndex {
  def apply(groups: Groups, test: GroupTest): JoinIndex = groups match {
    case Groups.One(isEmpty) => new TestedRows(test, isEmpty)
    case Groups.OfNumbers(table) => new TestedLongs(table, test)
    case bytes: Groups.OfBytes => new TestedBytes(bytes, test)
  }
}
