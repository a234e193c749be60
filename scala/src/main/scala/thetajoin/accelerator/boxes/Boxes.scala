package thetajoin.accelerator.boxes

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{
  IndexBuilder,
  IndexSpec,
  JoinIndex,
  LongsProber,
  OrderedIndex,
  Prober
}
import thetajoin.kit.GroupProber
import thetajoin.kit.keys.{Groups, KeyedNumbers}

/**
 * Three lower bounds or more: each build value must be at least the probe value at its place, and more than it where that is strict. A key
 * row has the keys that must be equal, then a value for each bound.
 *
 * @param keys how many columns must be equal
 * @param strict for each bound, whether the value must not equal it
 * @param asksFirst whether one candidate of a probe row is enough
 */
final case class BoxesSpec(
    keys: Int,
    strict: Seq[Boolean],
    extents: Seq[Extent],
    asksFirst: Boolean = false
) extends IndexSpec {
  override def forExistence: IndexSpec = copy(asksFirst = true)

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new BoxesBuilder(this, keyTypes.take(keys))
}

private final class BoxesBuilder(spec: BoxesSpec, types: Seq[DataType]) extends IndexBuilder {
  private val rows = new KeyedNumbers(types, spec.strict.size)

  override def add(row: InternalRow): Unit = rows.add(row)

  override def finish(): OrderedIndex = {
    val grouped = rows.grouped()
    // Without keys there is one group, be it empty.
    val groups =
      if (types.isEmpty) grouped.copy(starts = Array(0, grouped.order.length)) else grouped
    val columns = Array.tabulate(spec.strict.size)(rows.column(_).array)
    new BoxLayout(columns, groups.order.length, spec.extents).arrange(groups)
    val tree = BoundTree(columns, groups.order, spec.extents)
    val index =
      new Boxes(spec.strict.toArray, spec.asksFirst, rows.groups, groups.starts, tree)
    OrderedIndex(index, groups.order)
  }
}

/**
 * @param isStrict for each bound, whether the value must not equal it
 * @param starts where the rows of each group start, and the end of the last
 */
final class Boxes(
    private[boxes] val isStrict: Array[Boolean],
    private[boxes] val asksFirst: Boolean,
    private[boxes] val groups: Groups,
    private[boxes] val starts: Array[Int],
    private[boxes] val tree: BoundTree
) extends JoinIndex {
  override def bytes: Long = groups.bytes + 4L * starts.length + tree.bytes

  override def keyCount: Int = starts.length - 1

  override def newProber(): Prober = groups match {
    case _: Groups.OfBytes => new BoxesProber(this)
    case _ => new BoxesProber(this) with LongsProber
  }
}

/** Walks down the tree, and gives the positions that it finds by lists. */
private class BoxesProber(index: Boxes) extends GroupProber(index.groups) {
  import BoundTree.{Bits, Size}
  import BoxesProber._

  private val isStrict = index.isStrict
  private val starts = index.starts
  private val tree = index.tree

  /** A list is given once it has so many rows. */
  private val enough = if (index.asksFirst) 1 else ListSize - Size + 1
  private val least = new Array[Long](isStrict.length)
  private val rounded = new Array[Int](isStrict.length)
  private var start = 0
  private var end = 0

  /** By level: the block that is open, and which of its entries are still to be looked at, as bits. */
  private val blocks = new Array[Int](tree.height)
  private val entries = new Array[Int](tree.height)
  private var level = 0
  private var root = 0
  private val found = new Array[Int](ListSize)

  override def lists: Boolean = true
  override def positions: Array[Int] = found

  override protected def none(): Unit = {
    level = 0
    root = 0
    entries(0) = 0
    end = start
  }

  override protected def probe(segment: Int, numbers: Array[Long], at: Int): Unit = {
    var isPossible = true
    var i = 0
    while (i < least.length) {
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
      root = 0
      while (((end - 1) >>> (root * Bits)) - (start >>> (root * Bits)) >= Size) root += 1
      level = root
      enter(start >>> ((root + 1) * Bits))
    }
  }

  /** Opens a block at the current level. */
  private def enter(block: Int): Unit = {
    blocks(level) = block
    entries(level) = tree.passing(level, block, rounded) & inside(block)
  }

  /** The entries of a block at the current level that the segment reaches into. */
  private def inside(block: Int): Int = {
    val first = (start >>> (level * Bits)) - (block << Bits)
    val last = ((end - 1) >>> (level * Bits)) - (block << Bits)
    val low = if (first <= 0) -1 else -1 << first
    if (last >= Size - 1) low else low & ((2 << last) - 1)
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
    runFrom = 0
    runUntil = count
    count > 0
  }

  /** Goes up to an entry that is still to be looked at, or on to the second block of the segment; whether there is one. */
  private def isOpen: Boolean = {
    while (level < root && entries(level) == 0) level += 1
    if (entries(level) == 0 && end > start) {
      val last = (end - 1) >>> ((root + 1) * Bits)
      while (entries(level) == 0 && blocks(level) < last) enter(blocks(level) + 1)
    }
    entries(level) != 0
  }

  /** Adds these rows of the open block, if their whole numbers pass. */
  private def add(rows: Int, count: Int): Int = {
    val first = blocks(0) << Bits
    var open = rows
    var last = count
    while (open != 0) {
      val row = first + Integer.numberOfTrailingZeros(open)
      found(last) = row
      if (tree.passes(row, least)) last += 1
      open &= open - 1
    }
    last
  }
}

private object BoxesProber {

  /** More rows than this are given in several lists. */
  private final val ListSize = 64
}
