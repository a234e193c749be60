package thetajoin.accelerator.existence

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.contract.{
  BatchProber,
  JoinIndex,
  KeyBounds,
  LongsLookup,
  Prober,
  SingleRunProber
}
import thetajoin.kit.keys.{Groups, LongTable}

/** An index whose keys are numbers: an equal key, or none, and the values that are tested. */
sealed abstract class TestedNumbers extends JoinIndex with LongsLookup {

  /** The group of an equal key; negative without one. */
  def group(key: Long): Int

  /** As [[find]], within a group. */
  def find(group: Int, values: Array[Long]): Int

  final override def newProber(): Prober = new TestedNumbersProber(this)
}

/** Gives one row that matches, whatever others match. */
private sealed abstract class TestedProber extends SingleRunProber with BatchProber {
  private val bounds = new Array[Long](2)

  protected def find(group: Int, values: Array[Long]): Int

  protected final def found(position: Int): Unit =
    if (position < 0) run(0, 0) else run(position, position + 1)

  final override def probe(group: Int, first: Long, second: Long): Unit = {
    bounds(0) = first
    bounds(1) = second
    found(find(group, bounds))
  }
}

private final class TestedNumbersProber(index: TestedNumbers) extends TestedProber {
  private var numbers = Array.emptyLongArray

  override def group(key: Long): Int = index.group(key)
  override def group(keys: InternalRow): Int = group(keys.getLong(0))
  override protected def find(group: Int, values: Array[Long]): Int = index.find(group, values)

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

/** All rows are one group. The numbers of a probe row are the values that are tested. */
final class TestedRows(test: GroupTest, isEmpty: Boolean) extends TestedNumbers {
  override def bytes: Long = test.bytes
  override def group(key: Long): Int = 0
  override def find(numbers: Array[Long]): Int = find(0, numbers)
  override def find(group: Int, values: Array[Long]): Int =
    if (isEmpty) -1 else test.find(group, values, 0)
}

/** A group for each key of 64 bits. The numbers of a probe row are its key, then the values that are tested. */
final class TestedLongs(table: LongTable, test: GroupTest)
    extends TestedNumbers
    with KeyBounds {
  override def least: Long = table.least
  override def greatest: Long = table.greatest
  override def bytes: Long = table.bytes + test.bytes
  override def group(key: Long): Int = table.find(key)
  override def find(numbers: Array[Long]): Int = {
    val group = table.find(numbers(0))
    if (group < 0) -1 else test.find(group, numbers, 1)
  }
  override def find(group: Int, values: Array[Long]): Int = test.find(group, values, 0)
}

/** A group for each key of other types. */
final class TestedBytes(groups: Groups.OfBytes, test: GroupTest) extends JoinIndex {
  override def bytes: Long = groups.bytes + test.bytes
  override def newProber(): Prober = new TestedBytesProber(groups, test)
}

private final class TestedBytesProber(groups: Groups.OfBytes, test: GroupTest)
    extends TestedProber {
  private val finder = new Groups.Finder(groups)
  private val keys = groups.types.all.size
  private var values = Array.emptyLongArray

  override def group(key: Long): Int = throw new UnsupportedOperationException("keys are bytes")
  override def group(row: InternalRow): Int = finder.find(row)
  override protected def find(group: Int, values: Array[Long]): Int = test.find(group, values, 0)

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
