package thetajoin.accelerator.similar

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract._
import thetajoin.kit.keys.{Grouping, Groups}
import thetajoin.kit.{IntsBuilder, Stamps}

/**
 * The texts with the fewest edits, however many these are. Keys as for [[EditSpec]] with a constant.
 *
 * @param keys how many columns must be equal
 */
final case class NearestTextsSpec(keys: Int) extends IndexSpec {
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new NearestTextsBuilder(this, keyTypes.take(keys))
}

/**
 * Most probe rows have a text within a few edits, which an index of pieces finds. It is asked for few edits first. A
 * probe row that needs rows of more edits compares all rows of its group, beginning with the ones whose length, letters
 * and pairs of letters tell of the fewest edits.
 *
 * @param levels indexes of the same rows, for more edits each
 * @param order the rows, group after group
 * @param starts where the rows of each group start in it, and the end of the last
 * @param signatures in this order
 * @param pairs in this order
 */
final class NearestTexts(
    val levels: Array[EditIndex],
    val order: Array[Int],
    val starts: Array[Int],
    val signatures: Array[Long],
    val pairs: Array[Long]
) extends JoinIndex {
  def rows: TextRows = levels(0).rows

  override def bytes: Long = rows.bytes + levels.map(index => index.bytes - rows.bytes).sum +
    4L * (order.length + starts.length) + 8L * (signatures.length + pairs.length)

  override def newProber(): Prober = new NearestTextsProber(this)
}

/** An index for so many edits pays while its pieces have so many characters. Level l is for l + 1 edits. */
private[similar] object NearestTexts {
  final val Levels = 4
  private final val Piece = 3

  def edits(level: Int): Int = level + 1

  /** How long the build texts are that a level has. The first one has all. */
  def fewestLetters(level: Int): Int = if (level == 0) 0 else Piece * (edits(level) + 1)

  /** Whether a level has all texts that are within its edits from a text of this length. */
  def isWhole(level: Int, length: Int): Boolean =
    level == 0 || length - edits(level) >= fewestLetters(level)
}

private final class NearestTextsBuilder(spec: NearestTextsSpec, types: Seq[DataType])
    extends IndexBuilder {
  private val texts = new TextsBuilder(spec.keys, types)
  private var pieces, count = 0L

  override def add(row: InternalRow): Unit = {
    texts.add(row)
    count += 1
    for (level <- 0 until NearestTexts.Levels if has(level, texts.lastLength))
      pieces += NearestTexts.edits(level) + 1L
  }

  private def has(level: Int, length: Int) = length >= NearestTexts.fewestLetters(level)

  /** Besides the texts: pieces, and for each row its class in each level, its place and two words of bits. */
  override def bytes: Long =
    texts.bytes + TextsBuilder.BytesOfPiece * pieces + (8L * NearestTexts.Levels + 20L) * count

  override def finish(): OrderedIndex = {
    val Grouping(starts, order) = texts.grouped()
    val rows = texts.rows(Grouping(starts, order))
    val levels = Array.tabulate(NearestTexts.Levels) { level =>
      val edits = NearestTexts.edits(level)
      val ofRow = Array.tabulate(rows.size)(row => if (has(level, rows.length(row))) edits else -1)
      EditIndex(MostEdits.Constant(edits), rows, ofRow, cancellation)
    }
    def inOrder(of: (Array[Int], Int, Int) => Long) =
      order.map(row => of(rows.texts, rows.starts(row), rows.starts(row + 1)))
    OrderedIndex(
      new NearestTexts(levels, order, starts, inOrder(Letters.signature), inOrder(Letters.pairs)),
      Array.range(0, rows.size)
    )
  }
}

private final class NearestTextsProber(index: NearestTexts)
    extends Prober
    with ListProber
    with NarrowingProber {
  import NearestTextsProber._

  private val rows = index.rows
  private val groups = new Groups.Finder(rows.groups)
  private val text = new ProbeText(rows)
  private val searches = index.levels.map(_.newSearch(cancellation))
  private val emitted = new Stamps(rows.size)
  private val found = new IntsBuilder

  private var group = 0

  /** The level that is searched next, or else [[Scan]] or [[Done]]. */
  private var step = Done

  /** All rows of so many edits have been found. */
  private var complete = -1

  /** The most edits of a row that is still needed. */
  private var most = Int.MaxValue

  /** For each row of the group: the fewest edits that its text may have. How many rows have so many. */
  private var fewest = new Array[Byte](0)
  private val count = new Array[Int](Byte.MaxValue + 1)

  /** The rows of so many edits at least are looked at, and the place of the next one. */
  private var edits, at = 0

  override def positions: Array[Int] = found.array

  override def probe(row: InternalRow): Unit = {
    found.clear()
    emitted.restart()
    complete = -1
    most = Int.MaxValue
    group = groups.find(row)
    step = if (group < 0 || rows.size == 0) Done else 0
    if (step != Done) text.read(row.getUTF8String(rows.keys))
  }

  override def narrow(rank: Long): Unit =
    most = math.max(0L, math.min(rank, most.toLong)).toInt

  override def next(): Boolean = {
    found.clear()
    while (found.length == 0 && step != Done)
      if (most <= complete) step = Done
      else if (step == Scan) scan()
      else searchLevel()
    runFrom = 0
    runUntil = found.length
    found.length > 0
  }

  private def searchLevel(): Unit = {
    val search = searches(step)
    search(text, group)
    var i = 0
    while (i < search.found.length) {
      add(search.found.array(i))
      i += 1
    }
    complete = NearestTexts.edits(step)
    step += 1
    if (step == searches.length || !NearestTexts.isWhole(step, text.length)) startScan()
  }

  private def add(row: Int): Unit = if (emitted.add(row)) found.add(row)

  private def size: Int = index.starts(group + 1) - index.starts(group)

  private def startScan(): Unit = {
    step = Scan
    edits = -1
    at = size
  }

  private def readFewest(): Unit = {
    val (from, pairs) = (index.starts(group), text.pairs)
    if (fewest.length < size) fewest = new Array[Byte](size)
    java.util.Arrays.fill(count, 0)
    var i = 0
    while (i < size) {
      val longer = math.abs(rows.length(index.order(from + i)) - text.length)
      val ofLetters = Letters.fewestEdits(text.signature, index.signatures(from + i))
      val ofPairs = Letters.fewestEditsOfPairs(pairs, index.pairs(from + i))
      val most = math.min(math.max(longer, math.max(ofLetters, ofPairs)), Byte.MaxValue.toInt)
      fewest(i) = most.toByte
      count(most) += 1
      i += 1
    }
    cancellation.count(size)
  }

  /** Looks at some rows, the ones first that may be nearest. */
  private def scan(): Unit = {
    if (edits < 0) readFewest()
    if (at == size) startEdits()
    else {
      val from = index.starts(group)
      val start = at
      while (at < size && found.length < Some) {
        at = nextRow()
        if (at < size) {
          val row = index.order(from + at)
          if (!emitted.contains(row) && isNear(row)) add(row)
          at += 1
        }
      }
      cancellation.count(at - start)
    }
  }

  /** Goes on to the rows of more edits. */
  private def startEdits(): Unit = {
    edits += 1
    while (edits < count.length && count(edits) == 0) edits += 1
    at = 0
    if (edits == count.length || edits > most) step = Done
  }

  /** The next place of a row with the edits that are looked at. */
  private def nextRow(): Int = {
    val (all, end, wanted) = (fewest, size, edits.toByte)
    var i = at
    while (i < end && all(i) != wanted) i += 1
    i
  }

  private def isNear(row: Int): Boolean =
    most == Int.MaxValue || text.isWithin(row, most)
}

private object NearestTextsProber {
  private final val Done = -2
  private final val Scan = -1

  /** So many rows are given before the join tells again how near they have to be. */
  private final val Some = 16
}
