package thetajoin.kit.keys

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.kit.{LongOrder, LongsBuilder}

/**
 * Collects key rows that have keys which must be equal, of these types, and then `values` numbers of 64 bits: the
 * rows are grouped by the keys, and the numbers are kept in columns.
 */
final class KeyedNumbers(types: Seq[DataType], values: Int) {
  private val grouping = Groupings.by(types)
  private val isFirstNumber = types.isEmpty || types == Seq(LongType)
  private val keysOf = UnsafeProjection.create(types.toArray)
  private val columns = Array.fill(values)(new LongsBuilder)
  private val keys = types.size

  def add(row: InternalRow): Unit = {
    grouping.add(if (isFirstNumber) row else keysOf(row))
    var i = 0
    while (i < columns.length) {
      columns(i).add(row.getLong(keys + i))
      i += 1
    }
  }

  /** About the most that is held at once until all columns are in the order of the groups: each is there twice. */
  def bytes: Long = grouping.bytes + 2 * columns.map(_.bytes).sum

  /** The numbers at one place of all rows, by order of arrival. */
  def column(i: Int): LongsBuilder = columns(i)

  /** The same in one array, which is longer than there are rows, without a hold on it here. */
  def takeColumn(i: Int): Array[Long] = {
    val numbers = columns(i).array
    columns(i) = new LongsBuilder
    numbers
  }

  /** Called once, after all rows. */
  def grouped(): Grouping = grouping.grouped()

  /** After [[grouped]]. */
  def groups: Groups = grouping.groups

  /**
   * The rows of each group in the order in which they stand in `sorted`; without keys there is one group, be it
   * empty. Called once, in place of [[grouped]].
   */
  def grouped(sorted: Array[Int]): Grouping =
    if (types.isEmpty) Grouping(Array(0, sorted.length), sorted) else grouped().sortedBy(sorted)

  /** The rows of each group in ascending order of a number that each row has. */
  def sortedBy(numbers: LongsBuilder): Grouping =
    grouped(LongOrder.ascending(numbers.array, numbers.length))
}
