package thetajoin.driver.probe

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import thetajoin.kit.LongOrder

/**
 * Probe rows on their way to an ordered index: a batch is filled, sorted by where its rows are looked up, and read.
 * Neighbours then look at neighbouring places of the index, which is read from front to back for each batch, and not
 * from memory at random for each row. Generated code holds the columns of the rows in arrays of its own, and brings
 * these into the same order.
 *
 * @param capacity how many rows it holds
 * @param fields how many columns are kept as rows, since no array of primitives holds them
 */
final class ProbeBatch(capacity: Int, fields: Int) {
  import ProbeBatch._

  private var groups = new Array[Int](capacity)
  private var firsts = new Array[Long](capacity)
  private var seconds = new Array[Long](capacity)
  private var spareLongs = new Array[Long](capacity)
  private var spareInts = new Array[Int](capacity)
  private val rows = if (fields > 0) new BatchRows(capacity, fields) else null
  private var lastFirst = 0L
  private var size = 0
  private var lookedUp = 0
  private var sorted = Array.emptyIntArray
  private var at = 0

  def isFull: Boolean = size == capacity || (fields > 0 && rows.bytes >= TextBytes)

  /** Adds a row with its group and bounds as [[Candidates]] take them, and gives its place. */
  def add(group: Int, first: Long, second: Long): Int = {
    val place = size
    groups(place) = group
    // A row that is not looked up stands anywhere, and must not widen the span of the others.
    if (group >= 0) {
      lastFirst = first
      lookedUp += 1
    }
    firsts(place) = lastFirst
    seconds(place) = second
    size = place + 1
    place
  }

  /** Adds the null that stands in for build rows without a match: see [[BuildTail]]. */
  def addTail(): Unit = {
    if (fields > 0) rows.addNone(size)
    add(Candidates.TailGroup, 0L, 0L): Unit
  }

  /** The columns of the row that comes next to [[add]] which are kept as a row. */
  def addRow(row: UnsafeRow): Unit = rows.add(size, row)

  /**
   * Ends filling: the rows are read from the last to the first. False if they stay as they were added, since few are
   * looked up.
   */
  def sort(): Boolean = {
    val isWorthwhile = lookedUp >= size / FewOf
    if (isWorthwhile) {
      sorted = LongOrder.nearlyAscending(firsts, size)
      if (isGrouped) sortByGroup()
      firsts = inOrder(firsts)
      seconds = inOrder(seconds)
    } else if (fields > 0) sorted = Array.range(0, size)
    at = size
    size = 0
    lookedUp = 0
    if (fields > 0) rows.restart()
    isWorthwhile
  }

  /** The places at which the rows were added, in their order now. */
  def order: Array[Int] = sorted

  private def inOrder(values: Array[Long]): Array[Long] = {
    val inOrder = LongOrder.at(values, sorted, spareLongs)
    spareLongs = values
    inOrder
  }

  private def sortByGroup(): Unit = {
    var i = 0
    while (i < size) {
      spareLongs(i) = groups(i).toLong - Candidates.LeastGroup
      i += 1
    }
    sorted = LongOrder.by(spareLongs, sorted)
    i = 0
    while (i < size) {
      spareInts(i) = groups(sorted(i))
      i += 1
    }
    val added = groups
    groups = spareInts
    spareInts = added
  }

  private def isGrouped: Boolean = {
    var i = 1
    while (i < size && groups(i) == groups(0)) i += 1
    i < size
  }

  def hasNext: Boolean = at > 0

  def next(): Unit = {
    at -= 1
    if (fields > 0) rows.moveTo(sorted(at))
  }

  /** Of the current row. */
  def place: Int = at
  def group: Int = groups(at)
  def first: Long = firsts(at)
  def second: Long = seconds(at)
  def row: UnsafeRow = rows.row
}

object ProbeBatch {

  /** Of the columns that are kept as rows, without the columns of the last row. */
  private final val TextBytes = 4 << 20

  /** One row of so many is few. */
  private final val FewOf = 4

  private final val MostBytes = 32 << 20
  private final val MostRows = 1 << 18
  private final val FewestRows = 1 << 10

  /** The bytes of group and bounds, with the memory of sorting. */
  private final val KeyBytes = 48

  /** How many rows of so many bytes in arrays a batch holds. More than this gain nothing. */
  def capacity(rowBytes: Int): Int =
    math.max(
      FewestRows,
      math.min(MostRows, Integer.highestOneBit(MostBytes / (KeyBytes + rowBytes)))
    )
}

private final class BatchRows(capacity: Int, fields: Int) {
  private val offsets = new Array[Int](capacity + 1)
  private var page = new Array[Byte](1 << 16)
  private var end = 0
  val row = new UnsafeRow(fields)

  def bytes: Int = end

  /** Other rows may use the places; the rows that are here can be read until then. */
  def restart(): Unit = end = 0

  def add(place: Int, input: UnsafeRow): Unit = {
    val from = end
    end = Math.addExact(from, input.getSizeInBytes)
    if (end > page.length)
      page = java.util.Arrays.copyOf(page, math.max(LongOrder.grown(page.length), end))
    input.writeToMemory(page, Platform.BYTE_ARRAY_OFFSET + from)
    offsets(place) = from
    offsets(place + 1) = end
  }

  def addNone(place: Int): Unit = {
    offsets(place) = end
    offsets(place + 1) = end
  }

  def moveTo(place: Int): Unit =
    row.pointTo(
      page,
      Platform.BYTE_ARRAY_OFFSET + offsets(place),
      offsets(place + 1) - offsets(place)
    )
}
