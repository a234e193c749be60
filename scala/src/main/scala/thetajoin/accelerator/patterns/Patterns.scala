package thetajoin.accelerator.patterns

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import thetajoin.contract.{BytesProber, JoinIndex, ListProber, Prober}
import thetajoin.kit.keys.Groups
import thetajoin.kit.{IntsBuilder, PairTester, PairValues, Stamps}

/**
 * @param automata of the strings that are needed anywhere, at the start and, backwards, at the end; null without any
 * @param counts how many strings each has, then 1 if there are rows which need none
 * @param tested patterns by position; null if no row has to be tested, or can be
 * @param reading how texts are read
 * @param isExact whether an error in a pattern is raised
 * @param asksFirst whether one candidate of a text is enough
 * @param areOneEach whether no row has several strings as alternatives
 */
final class Patterns(
    private[patterns] val groups: Groups,
    private[patterns] val automata: Array[Automaton],
    private[patterns] val counts: Array[Int],
    private[patterns] val cells: Cells,
    private[patterns] val tested: PairValues,
    private[patterns] val reading: Reading,
    private[patterns] val isExact: Boolean,
    private[patterns] val asksFirst: Boolean,
    private[patterns] val areOneEach: Boolean
) extends JoinIndex {
  override def bytes: Long = groups.bytes + cells.bytes +
    automata.iterator.filter(_ != null).map(_.bytes).sum +
    (if (tested == null) 0L else tested.bytes)

  /** By place, anywhere, at the start and at the end: the finders of strings in a text. */
  private[patterns] def newFinders(): Array[Strings] =
    Array(Place.Anywhere, Place.Start, Place.End).map(place =>
      finder(automata(place.number), place)
    )

  private def finder(automaton: Automaton, place: Place): Strings =
    if (automaton == null) null
    else
      place match {
        case Place.Anywhere => new automaton.InText
        case Place.Start => new automaton.AtEdge(backwards = false)
        case Place.End => new automaton.AtEdge(backwards = true)
      }

  override def newProber(): Prober = groups match {
    case Groups.One(_) => new PatternsProber(this) with BytesProber
    case _ => new PatternsProber(this)
  }
}

/** Looks for one string after another, and gives the rows that need it. */
private class PatternsProber(index: Patterns) extends Prober with ListProber {
  private val finder = new Groups.Finder(index.groups)
  private val finders = index.newFinders()

  /** For a text whose strings aren't known. */
  private lazy val everywhere: Array[Strings] =
    Array.tabulate(finders.length)(place => new EveryString(index.counts(place)))
  private val cells = index.cells
  private val tester =
    if (index.tested == null) null
    else new PairTester(index.tested, cancellation, errorsPass = !index.isExact)

  /** Of each place the number of its first string, and at last the number of no string. */
  private val firsts = index.counts.scanLeft(0)(_ + _)

  /** Strings that were found anywhere, which a text may have several times; and rows, if they have several strings. */
  private val found = new Stamps(index.counts(0))
  private lazy val taken = new Stamps(0)
  private val enough = if (index.asksFirst) 1 else PatternsProber.ListSize
  private val collected = new IntsBuilder
  private var list = cells.postings

  private var group = -1
  private var bytes: Array[Byte] = _
  private var start = 0
  private var end = 0

  /** The text as it is tested, if strings are looked for in a folded one; or null. */
  private var unfolded: Array[Byte] = _

  /** The finders of the strings of each place, and which of these are looked for. */
  private var ofText = finders
  private var place = 0

  /**
   * Of the cell that is open: the next place in the postings, the first of a row that has to be tested, and the end.
   */
  private var cellAt = 0
  private var cellTested = 0
  private var cellEnd = 0
  private var isTesting = false

  final override def positions: Array[Int] = list

  final override def probe(row: InternalRow): Unit = {
    group = finder.find(row)
    place = firsts.length
    cellEnd = cellAt
    isTesting = false
    if (group >= 0) {
      val text = row.getUTF8String(row.numFields - 1)
      begin(text.getBaseObject, text.getBaseOffset, text.numBytes)
    }
  }

  /** If there are no equality keys. */
  final def probe(base: AnyRef, offset: Long, size: Int): Unit = {
    group = 0
    begin(base, offset, size)
  }

  private def begin(base: AnyRef, offset: Long, size: Int): Unit = {
    val read = index.reading.of(base, offset, size)
    unfolded =
      if (index.reading.isFolded && tester != null)
        UTF8String.fromAddress(base, offset, size).getBytes
      else null
    ofText = if (tells(base, offset, size)) finders else everywhere
    base match {
      case array: Array[Byte] if read == null =>
        bytes = array
        start = (offset - Platform.BYTE_ARRAY_OFFSET).toInt
        end = start + size
      case _ =>
        bytes = if (read == null) UTF8String.fromAddress(base, offset, size).getBytes else read
        start = 0
        end = bytes.length
    }
    isTesting = false
    found.restart()
    if (!index.areOneEach) taken.restart()
    cellEnd = cellAt
    place = -1
    nextPlace()
  }

  private def tells(base: AnyRef, offset: Long, size: Int): Boolean =
    !index.reading.isInLowerCase || index.reading.tells(UTF8String.fromAddress(base, offset, size))

  /** Goes on to the next one that has strings. */
  private def nextPlace(): Unit = {
    place += 1
    while (place < ofText.length && ofText(place) == null) place += 1
    if (place < ofText.length) ofText(place).start(bytes, start, end)
  }

  final override def next(): Boolean = {
    while (cellAt < cellEnd || openNext())
      if (giveSome()) return true
    if (isTesting) tester.raiseDeferred()
    false
  }

  /** Opens the cell of the next string that the text has and that is new; false if there are no more. */
  private def openNext(): Boolean = {
    var isOpen = false
    while (!isOpen && place <= ofText.length)
      if (place == ofText.length) {
        place += 1
        isOpen = index.counts(Place.Nowhere) > 0 && open(firsts(Place.Nowhere))
      } else {
        val string = ofText(place).next()
        cancellation.count(1)
        if (string < 0) nextPlace()
        else if (place > 0 || found.add(string)) isOpen = open(firsts(place) + string)
        else ofText(place).skip()
      }
    isOpen
  }

  private def open(string: Int): Boolean = {
    val cell = cells.find(string, group)
    if (cell >= 0) {
      cellAt = cells.starts(cell)
      cellTested = cells.tested(cell)
      cellEnd = cells.starts(cell + 1)
    }
    cell >= 0
  }

  /**
   * Gives rows of the open cell: all that need no test, or some that pass theirs; false if none of the tested rows
   * does.
   */
  private def giveSome(): Boolean =
    if (cellAt < cellTested && index.areOneEach) {
      list = cells.postings
      runFrom = cellAt
      runUntil = cellTested
      cellAt = cellTested
      true
    } else {
      collected.clear()
      while (cellAt < cellEnd && collected.length < enough) {
        val row = cells.postings(cellAt)
        if ((index.areOneEach || taken.add(row)) && (cellAt < cellTested || passes(row)))
          collected.add(row)
        cellAt += 1
        cancellation.count(1)
      }
      list = collected.array
      runFrom = 0
      runUntil = collected.length
      runUntil > 0
    }

  /** Without a test, Spark decides. */
  private def passes(row: Int): Boolean = tester == null || {
    if (!isTesting) {
      tester.start(if (unfolded != null) unfolded else Arrays.copyOfRange(bytes, start, end))
      isTesting = true
    }
    tester.holds(row)
  }
}

private object PatternsProber {

  /** More rows than this that were tested are given in several lists. */
  private val ListSize = 64
}
