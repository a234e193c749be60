package thetajoin.accelerator.patterns

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import thetajoin.contract.{BytesProber, JoinIndex, Prober}
import thetajoin.kit.keys.Groups
import thetajoin.kit.{IntsBuilder, PairTester, PairValues, Stamps}

/**
 * The rows that need a string, in cells: those of each group of equal keys. Strings are numbered through all places of them, and the last one is
 * nothing: what it has are candidates of all texts.
 *
 * @param cells of each string the first; one more at the end
 * @param groups of each cell; ascending within a string
 * @param starts of each cell, its first place in `postings`; one more at the end
 * @param tested of each cell, its first place in `postings` of a row that has to be tested
 * @param postings positions
 */
private[patterns] final class Cells(
    cells: Array[Int],
    groups: Array[Int],
    val starts: Array[Int],
    val tested: Array[Int],
    val postings: Array[Int]
) extends Serializable {
  def bytes: Long =
    4L * (cells.length + groups.length + starts.length + tested.length + postings.length)

  /** The cell of a string and a group; below zero without one. */
  def find(string: Int, group: Int): Int = {
    val from = cells(string)
    val until = cells(string + 1)
    if (until - from == 1) if (groups(from) == group) from else -1
    else Arrays.binarySearch(groups, from, until, group)
  }
}

/**
 * @param automata of the strings that are needed anywhere, at the start and, backwards, at the end; null without any
 * @param counts how many strings each has, then 1 if there are rows which need none
 * @param tested patterns by position; null if no row has to be tested
 * @param areCharacters whether Spark reads texts as characters, not as bytes
 * @param isExact whether an error in a pattern is raised
 * @param areOneEach whether no row has several strings of which a text needs one
 */
final class Patterns(
    private[patterns] val groups: Groups,
    private[patterns] val automata: Array[Automaton],
    private[patterns] val counts: Array[Int],
    private[patterns] val cells: Cells,
    private[patterns] val tested: PairValues,
    private[patterns] val areCharacters: Boolean,
    private[patterns] val isExact: Boolean,
    private[patterns] val areOneEach: Boolean
) extends JoinIndex {
  override def bytes: Long = groups.bytes + cells.bytes +
    automata.iterator.filter(_ != null).map(_.bytes).sum +
    (if (tested == null) 0L else tested.bytes)

  /** Of a string anywhere, at the start and at the end: what finds it in a text. */
  private[patterns] def newFinders(): Array[Strings] =
    automata.zipWithIndex.map {
      case (null, _) => null
      case (automaton, 0) => new automaton.InText
      case (automaton, place) => new automaton.AtEdge(backwards = place == 2)
    }

  override def newProber(): Prober = groups match {
    case Groups.One(_) => new PatternsProber(this) with BytesProber
    case _ => new PatternsProber(this)
  }
}

/** Looks for one string after another, and gives the rows that need it. */
private class PatternsProber(index: Patterns) extends Prober {
  private val finder = new Groups.Finder(index.groups)
  private val finders = index.newFinders()
  private val cells = index.cells
  private val tester =
    if (index.tested == null) null else new PairTester(index.tested, errorsPass = !index.isExact)

  /** Of each place the number of its first string, and at last the number of no string. */
  private val firsts = index.counts.scanLeft(0)(_ + _)

  /** Strings that were found anywhere, which a text may have several times; and rows, if they have several strings. */
  private val found = new Stamps(index.counts(0))
  private lazy val taken = new Stamps(cells.postings.length)
  private val collected = new IntsBuilder
  private var list = cells.postings

  private var group = -1
  private var bytes: Array[Byte] = _
  private var start = 0
  private var end = 0

  /** Which strings are looked for. */
  private var place = 0
  private var isTesting = false

  final override def lists: Boolean = true
  final override def positions: Array[Int] = list

  final override def probe(row: InternalRow): Unit = {
    group = finder.find(row)
    place = firsts.length
    isTesting = false
    if (group >= 0) {
      val text = row.getUTF8String(row.numFields - 1)
      begin(text.getBaseObject, text.getBaseOffset, text.numBytes)
    }
  }

  /** If there are no equal keys. */
  final def probe(base: AnyRef, offset: Long, size: Int): Unit = {
    group = 0
    begin(base, offset, size)
  }

  private def begin(base: AnyRef, offset: Long, size: Int): Unit = {
    base match {
      case array: Array[Byte] =>
        bytes = array
        start = (offset - Platform.BYTE_ARRAY_OFFSET).toInt
        end = start + size
      case _ => copy(UTF8String.fromAddress(base, offset, size).getBytes)
    }
    if (index.areCharacters && !isAscii(base, offset, size)) {
      val text = UTF8String.fromAddress(base, offset, size)
      // Bytes that are no characters are replaced.
      if (!text.isValid) copy(text.toString.getBytes(UTF_8))
    }
    isTesting = false
    found.restart()
    if (!index.areOneEach) taken.restart()
    place = -1
    nextPlace()
  }

  private def copy(text: Array[Byte]): Unit = {
    bytes = text
    start = 0
    end = text.length
  }

  private def isAscii(base: AnyRef, offset: Long, size: Int): Boolean = {
    var bits = 0L
    var i = 0
    while (i + 8 <= size) {
      bits |= Platform.getLong(base, offset + i)
      i += 8
    }
    while (i < size) {
      bits |= Platform.getByte(base, offset + i).toLong << 56 | Platform.getByte(base, offset + i)
      i += 1
    }
    (bits & 0x8080808080808080L) == 0L
  }

  /** Goes on to the next one that has strings. */
  private def nextPlace(): Unit = {
    place += 1
    while (place < finders.length && finders(place) == null) place += 1
    if (place < finders.length) finders(place).start(bytes, start, end)
  }

  final override def next(): Boolean = {
    while (place < finders.length) {
      val string = finders(place).next()
      if (string < 0) nextPlace()
      else if ((place > 0 || found.add(string)) && give(firsts(place) + string)) return true
    }
    if (place == finders.length) {
      place += 1
      if (index.counts(finders.length) > 0 && give(firsts(finders.length))) return true
    }
    if (isTesting) tester.raiseDeferred()
    false
  }

  /** Gives the rows that need a string, or those of them that pass their test. */
  private def give(string: Int): Boolean = {
    val cell = cells.find(string, group)
    if (cell < 0) false
    else {
      runFrom = cells.starts(cell)
      runUntil = cells.starts(cell + 1)
      val tested = cells.tested(cell)
      if (index.areOneEach && tested == runUntil) list = cells.postings
      else {
        collect(runFrom, tested, runUntil)
        list = collected.array
        runFrom = 0
        runUntil = collected.length
      }
      runFrom < runUntil
    }
  }

  private def collect(from: Int, tested: Int, until: Int): Unit = {
    collected.clear()
    var i = from
    while (i < until) {
      val row = cells.postings(i)
      if ((index.areOneEach || taken.add(row)) && (i < tested || passes(row))) collected.add(row)
      i += 1
    }
  }

  private def passes(row: Int): Boolean = {
    if (!isTesting) {
      tester.start(Arrays.copyOfRange(bytes, start, end))
      isTesting = true
    }
    tester.holds(row)
  }
}
