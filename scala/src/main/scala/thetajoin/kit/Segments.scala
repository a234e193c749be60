package thetajoin.kit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{
  BatchProber,
  IndexBuilder,
  JoinIndex,
  OrderedIndex,
  Prober,
  SingleRunProber
}
import thetajoin.kit.keys.{Groups, KeyedNumbers, LongTable}

/**
 * Sorted numbers by position, in segments: one for each group of rows with equal keys, or one of all rows.
 *
 * @param starts where each segment starts; the end of the last too
 * @param directories of the segments for which a plain search would take long, else null; empty if there are none
 */
final class Segments private (
    val starts: Array[Int],
    val numbers: Array[Long],
    directories: Array[Directory]
) extends Serializable {
  def bytes: Long =
    4L * starts.length + 8L * numbers.length + directories.filter(_ != null).map(_.bytes).sum

  def count: Int = starts.length - 1

  def end(segment: Int): Int = starts(segment + 1)

  /** The first position of a segment with a number that is at least this one; the segment's end without one. */
  def firstAtLeast(segment: Int, number: Long): Int =
    if (directories.length > 0 && directories(segment) != null)
      directories(segment).firstAtLeast(numbers, number)
    else LongOrder.firstAtLeast(numbers, number, starts(segment), starts(segment + 1))

  /** The first position of a segment with a number above this one. */
  def firstAbove(segment: Int, number: Long): Int =
    if (number == Long.MaxValue) end(segment) else firstAtLeast(segment, number + 1)

  /** Where the numbers of a segment begin that are not below a bound, nor equal to it if it is strict. */
  def from(segment: Int, bound: Long, isStrict: Boolean): Int =
    if (isStrict) firstAbove(segment, bound) else firstAtLeast(segment, bound)

  /** The end of the rows that are not above it, nor equal to it if it is strict. */
  def until(segment: Int, bound: Long, isStrict: Boolean): Int =
    if (isStrict) firstAtLeast(segment, bound) else firstAbove(segment, bound)
}

object Segments {

  /** From so many rows on a directory takes less time than a search of all of them. */
  private val ManyRows = 64

  /** @param starts where each segment starts in the numbers, and the end of the last */
  def apply(starts: Array[Int], numbers: Array[Long]): Segments = {
    val count = starts.length - 1
    val directories = new Array[Directory](count)
    var any = false
    var i = 0
    while (i < count) {
      if (starts(i + 1) - starts(i) >= ManyRows) {
        directories(i) = Directory(numbers, starts(i), starts(i + 1))
        any = true
      }
      i += 1
    }
    new Segments(starts, numbers, if (any) directories else Array.empty)
  }
}

/**
 * Sorts rows by the number that follows the keys which must be equal, within each group of equal keys. Rows of equal
 * numbers stay in the order in which they came.
 *
 * @param types of the keys
 * @param index makes an index of the groups and their numbers
 */
final class SegmentsBuilder(types: Seq[DataType])(index: (Groups, Segments) => JoinIndex)
    extends IndexBuilder {
  private val rows = new KeyedNumbers(types, values = 1)

  override def add(row: InternalRow): Unit = rows.add(row)
  override def bytes: Long = rows.bytes

  override def finish(): OrderedIndex = {
    val sorted = rows.sortedBy(rows.column(0))
    val segments = Segments(sorted.starts, rows.column(0).inOrder(sorted.order))
    OrderedIndex(index(rows.groups, segments), sorted.order)
  }
}

/**
 * Finds the segment of a probe row. The index decides on its candidates there: it compares the numbers that follow
 * the keys.
 *
 * @param groups finds a segment by the keys that must be equal, which come first in a key row
 * @param others how many columns of a key row come after its numbers
 */
abstract class GroupProber(groups: Groups, others: Int = 0) extends Prober {
  private val table: LongTable = groups match {
    case Groups.OfNumbers(table) => table
    case _ => null
  }
  private val finder = groups match {
    case bytes: Groups.OfBytes => new Groups.Finder(bytes)
    case _ => null
  }

  /** How many columns of a key row are ahead of the numbers that the index compares. */
  private val keys = groups match {
    case Groups.One(_) => 0
    case Groups.OfNumbers(_) => 1
    case Groups.OfBytes(_, types) => types.all.size
  }
  private var numbers = Array.emptyLongArray

  /** There are no candidates. */
  protected def none(): Unit

  /** Starts on the candidates within a segment, by the numbers from this place on. */
  protected def probe(segment: Int, numbers: Array[Long], at: Int): Unit

  final def group(key: Long): Int = if (table == null) 0 else table.find(key)
  final def group(row: InternalRow): Int =
    if (finder != null) finder.find(row) else group(row.getLong(0))

  /** For key rows of numbers only. */
  final def probe(key: Array[Long]): Boolean = {
    val segment = if (table == null) 0 else table.find(key(0))
    if (segment < 0) none() else probe(segment, key, keys)
    segment >= 0
  }

  override def probe(row: InternalRow): Unit = {
    // Numbers stand where they do in the row, but for keys of other types.
    val skipped = if (finder == null) 0 else keys
    if (numbers.isEmpty) numbers = new Array[Long](row.numFields - skipped - others)
    var i = 0
    while (i < numbers.length) {
      numbers(i) = row.getLong(skipped + i)
      i += 1
    }
    if (finder == null) probe(numbers): Unit
    else {
      val segment = finder.find(row)
      if (segment < 0) none() else probe(segment, numbers, 0)
    }
  }
}

/**
 * Finds the segment of a probe row, alone or in a batch, and compares the one or two numbers that follow the keys
 * there.
 */
abstract class SegmentProber(groups: Groups) extends GroupProber(groups) with BatchProber {
  final override protected def probe(segment: Int, numbers: Array[Long], at: Int): Unit =
    probe(segment, number(numbers, at), number(numbers, at + 1))

  /** An index with fewer bounds than two reads no others. */
  private def number(numbers: Array[Long], at: Int): Long =
    if (at < numbers.length) numbers(at) else 0L
}

/**
 * Finds the rows of a segment whose number is between bounds of the probe row, which follow its keys: the lower
 * bound, then the upper one, each if there is one. They are one run.
 *
 * @param lower whether the number must not equal the lower bound; None if there is none
 * @param upper the same of the upper bound
 */
class BetweenProber(
    groups: Groups,
    segments: Segments,
    lower: Option[Boolean],
    upper: Option[Boolean]
) extends SegmentProber(groups)
    with SingleRunProber {
  private val hasLower = lower.isDefined
  private val hasUpper = upper.isDefined
  private val isLowerStrict = lower.contains(true)
  private val isUpperStrict = upper.contains(true)

  override protected def none(): Unit = run(0, 0)

  /** Gives the rows from one position until another, if there are any. */
  protected def found(from: Int, until: Int): Unit = run(from, until)

  override def probe(segment: Int, first: Long, second: Long): Unit = {
    val upper = if (hasLower) second else first
    val from =
      if (hasLower) segments.from(segment, first, isLowerStrict) else segments.starts(segment)
    val until =
      if (hasUpper) segments.until(segment, upper, isUpperStrict) else segments.end(segment)
    found(from, until)
  }
}
