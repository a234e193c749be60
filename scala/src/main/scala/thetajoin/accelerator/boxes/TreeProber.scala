package thetajoin.accelerator.boxes

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.condition.OrderedLong
import thetajoin.contract.ListProber
import thetajoin.kit.keys.Groups
import thetajoin.kit.{GroupProber, PairTester, PairValues}

/**
 * The build rows of an index.
 *
 * @param isStrict for each bound, whether the value must not equal it
 * @param asksFirst whether one candidate of a probe row is enough
 * @param starts where the rows of each group start, and the end of the last
 * @param tested the values of rows that are tested, by position; null if there is no test
 */
private[boxes] final class BoxRows(
    val isStrict: Array[Boolean],
    val asksFirst: Boolean,
    val groups: Groups,
    val starts: Array[Int],
    val tree: BoundTree,
    val tested: PairValues
) extends Serializable {
  def bytes: Long =
    groups.bytes + 4L * starts.length + tree.bytes + (if (tested == null) 0L else tested.bytes)

  /** Whether key rows are whole numbers, and nothing else. */
  def areNumbers: Boolean = tested == null && !groups.isInstanceOf[Groups.OfBytes]

  /** The greatest of all finite coordinates that follow the bounds, whatever its sign. */
  @transient lazy val reach: Double = {
    val ends = for {
      row <- Iterator.range(0, starts.last)
      d <- Iterator.range(0, tree.width - isStrict.length)
    } yield {
      val number = tree.number(row, isStrict.length + d)
      math.abs(OrderedLong.toDouble(if (d % 2 == 0) ~number else number))
    }
    ends.filter(java.lang.Double.isFinite).foldLeft(0.0)(math.max(_, _))
  }
}

/** Walks down the tree in some order, and gives the positions that it finds by lists. */
private[boxes] abstract class TreeProber(index: BoxRows)
    extends GroupProber(index.groups, others = if (index.tested == null) 0 else 1)
    with ListProber {
  import BoundTree.{Bits, Size}

  private val isStrict = index.isStrict
  private val starts = index.starts
  private val tester =
    if (index.tested == null) null else new PairTester(index.tested, cancellation)
  private val least = Array.fill(index.tree.width)(Long.MinValue)
  private val rounded = new Array[Int](index.tree.width)
  private var start = 0
  private var end = 0
  protected final val tree: BoundTree = index.tree
  protected final val found: Array[Int] = new Array[Int](TreeProber.ListSize)

  override def positions: Array[Int] = found

  override def probe(row: InternalRow): Unit = {
    if (tester != null) tester.start(row.getBinary(row.numFields - 1))
    super.probe(row)
  }

  override protected def probe(segment: Int, numbers: Array[Long], at: Int): Unit = {
    var isPossible = true
    var i = 0
    while (i < isStrict.length) {
      val number = numbers(at + i)
      if (!isStrict(i)) least(i) = number
      else if (number < Long.MaxValue) least(i) = number + 1
      else isPossible = false
      i += 1
    }
    start = starts(segment)
    end = starts(segment + 1)
    if (start == end || !isPossible || !tree.round(least, rounded)) none()
    else {
      // The lowest level at which one block, or two neighbours, has all of the segment.
      var root = 0
      while (((end - 1) >>> (root * Bits)) - (start >>> (root * Bits)) >= Size) root += 1
      val shift = (root + 1) * Bits
      walk(root, start >>> shift, (end - 1) >>> shift, numbers, at + isStrict.length)
    }
  }

  /**
   * Starts on the blocks from the first to the last at a level. The values after the bounds stand in `numbers` from
   * `at` on.
   */
  protected def walk(level: Int, first: Int, last: Int, numbers: Array[Long], at: Int): Unit

  /** The entries of a block whose rows may be candidates, as bits. */
  protected final def passing(level: Int, block: Int): Int = {
    cancellation.count(Size)
    tree.passing(level, block, rounded) & inside(level, block)
  }

  /** The entries of a block that the segment reaches into. */
  private def inside(level: Int, block: Int): Int = {
    val first = (start >>> (level * Bits)) - (block << Bits)
    val last = ((end - 1) >>> (level * Bits)) - (block << Bits)
    val low = if (first <= 0) -1 else -1 << first
    if (last >= Size - 1) low else low & ((2 << last) - 1)
  }

  /** Whether the whole numbers of a row pass, and the test. */
  protected final def isCandidate(row: Int): Boolean =
    tree.passes(row, least) && (tester == null || tester.holds(row))

  /** Gives the rows that were found, so many at the start of the list. */
  protected final def give(count: Int): Boolean = {
    runFrom = 0
    runUntil = count
    if (count == 0 && tester != null) tester.raiseDeferred()
    count > 0
  }
}

private object TreeProber {

  /** More rows than this are given in several lists. */
  final val ListSize = 64
}

/** Walks down the tree in the order of the rows. */
private class BoxesProber(index: BoxRows) extends TreeProber(index) {
  import BoundTree.{Bits, Size}

  /** A list is given once it has so many rows. */
  private val enough = if (index.asksFirst) 1 else TreeProber.ListSize - Size + 1

  /** By level: the block that is open, and which of its entries are still to be looked at, as bits. */
  private val blocks = new Array[Int](tree.height)
  private val entries = new Array[Int](tree.height)
  private var level = 0
  private var root = 0
  private var lastOfRoot = 0

  override protected def none(): Unit = {
    level = 0
    root = 0
    entries(0) = 0
    lastOfRoot = -1
  }

  override protected def walk(
      top: Int,
      first: Int,
      last: Int,
      numbers: Array[Long],
      at: Int
  ): Unit = {
    root = top
    level = top
    lastOfRoot = last
    enter(first)
  }

  /** Opens a block at the current level. */
  private def enter(block: Int): Unit = {
    blocks(level) = block
    entries(level) = passing(level, block)
  }

  final override def next(): Boolean = {
    var count = 0
    while (count < enough && isOpen) {
      val open = entries(level)
      if (level > 0) {
        entries(level) = open & (open - 1)
        val block = (blocks(level) << Bits) + Integer.numberOfTrailingZeros(open)
        level -= 1
        enter(block)
      } else {
        entries(0) = 0
        count = add(open, count)
      }
    }
    give(count)
  }

  /**
   * Goes up to an entry that is still to be looked at, or on to the second block of the segment; whether there is
   * one.
   */
  private def isOpen: Boolean = {
    while (level < root && entries(level) == 0) level += 1
    while (entries(level) == 0 && blocks(level) < lastOfRoot) enter(blocks(level) + 1)
    entries(level) != 0
  }

  /** Adds the candidates among these rows of the open block. */
  private def add(rows: Int, count: Int): Int = {
    val first = blocks(0) << Bits
    var open = rows
    var last = count
    while (open != 0) {
      val row = first + Integer.numberOfTrailingZeros(open)
      found(last) = row
      if (isCandidate(row)) last += 1
      open &= open - 1
    }
    last
  }
}
