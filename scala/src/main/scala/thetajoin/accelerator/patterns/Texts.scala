package thetajoin.accelerator.patterns

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

import thetajoin.contract.{JoinIndex, ListProber, Prober}
import thetajoin.kit.keys.Groups
import thetajoin.kit.{IntsBuilder, PairTester, PairValues, Stamps}

/**
 * @param starts where the rows of each group start, and the end of the last
 * @param texts by position, within each group in the order of their bytes
 * @param backwards positions, within each group by texts from their ends; null if no string is needed there
 * @param trigrams null if no string is needed anywhere, or the texts are too many
 * @param unread positions, in ascending order, of texts that may have any string
 * @param tested the texts again, with their test; null if there is none
 * @param isExact whether an error in a pattern is raised
 * @param asksFirst whether one candidate of a pattern is enough
 */
final class Texts(
    private[patterns] val groups: Groups,
    private[patterns] val starts: Array[Int],
    private[patterns] val texts: Array[Array[Byte]],
    private[patterns] val backwards: Array[Int],
    private[patterns] val trigrams: Trigrams,
    private[patterns] val unread: Array[Int],
    private[patterns] val tested: PairValues,
    private[patterns] val form: PatternForm,
    private[patterns] val isExact: Boolean,
    private[patterns] val asksFirst: Boolean
) extends JoinIndex {
  override val bytes: Long = groups.bytes + 4L * (starts.length + unread.length) +
    texts.foldLeft(0L)((sum, text) => sum + 24L + text.length) +
    (if (backwards == null) 0L else 4L * backwards.length) +
    (if (trigrams == null) 0L else trigrams.bytes)

  override def newProber(): Prober = new TextsProber(this)
}

/** Looks up the strings that a text needs to match a pattern. */
private final class TextsProber(index: Texts) extends Prober with ListProber {
  private val finder = new Groups.Finder(index.groups)
  private val tester =
    if (index.tested == null) null
    else new PairTester(index.tested, cancellation, errorsPass = !index.isExact)
  private lazy val taken = new Stamps(0)
  private val enough = if (index.asksFirst) 1 else TextsProber.ListSize
  private val collected = new IntsBuilder

  private var required = Required.Nothing

  /** Strings that are still to be looked up; none counts as one. Texts that may have any of them come first. */
  private var remaining = 0

  /** Whether a row may be found by several strings. */
  private var mayRepeat = false
  private var start = 0
  private var end = 0

  /**
   * Where the rows stand of the string that is looked at, in a list of positions or, if there is none, by themselves.
   */
  private var source: Array[Int] = _
  private var at = 0
  private var last = 0
  private var areTested = false

  /** Whether the tester has been started on the pattern. */
  private var isTesting = false

  override def positions: Array[Int] = collected.array

  override def probe(row: InternalRow): Unit = {
    val group = finder.find(row)
    at = last
    isTesting = group >= 0 && tester != null
    remaining = 0
    if (group >= 0) {
      val pattern = row.getUTF8String(row.numFields - 1)
      required = requiredBy(pattern)
      start = index.starts(group)
      end = index.starts(group + 1)
      if (isTesting) tester.start(pattern.getBytes)
      remaining = lookUps + (if (index.unread.isEmpty) 0 else 1)
      mayRepeat = remaining > 1
      if (mayRepeat) taken.restart()
    }
  }

  override def next(): Boolean = {
    collected.clear()
    while (collected.length < enough && hasRow) {
      val row = if (source == null) at else source(at)
      at += 1
      cancellation.count(1)
      if (isNew(row) && (!areTested || tester.holds(row))) collected.add(row)
    }
    runFrom = 0
    runUntil = collected.length
    if (runUntil == 0 && isTesting) tester.raiseDeferred()
    runUntil > 0
  }

  private def requiredBy(pattern: UTF8String): Required = {
    val required = index.form.required(pattern)
    if (index.form.mayIgnoreCase) required.folded else required
  }

  private def lookUps: Int = math.max(required.anyOf.size, 1)

  private def hasRow: Boolean = {
    while (at >= last && lookUpNext()) {}
    at < last
  }

  private def isNew(row: Int): Boolean = !mayRepeat || taken.add(row)

  /** Goes on to the rows of the next string; false if there is none. */
  private def lookUpNext(): Boolean = {
    val isOpen = remaining > 0
    if (isOpen) {
      remaining -= 1
      if (remaining == lookUps) within(index.unread, 0, index.unread.length)
      else if (required.anyOf.isEmpty) all(!required.isAll)
      else {
        val string = required.anyOf(remaining)
        required.place.number match {
          case Place.Start.number => range(string, null)
          case Place.End.number => range(string, index.backwards)
          case _ if index.trigrams == null || string.length < Trigrams.Size => all(true)
          case _ => withTrigram(string)
        }
      }
    }
    isOpen
  }

  private def all(test: Boolean): Unit = open(null, start, end, test)

  /** The rows whose texts begin with a string; or end with it, if a list is given in that order. */
  private def range(string: Array[Byte], order: Array[Int]): Unit = {
    def find(isAfter: Boolean) = TextOrder.find(index.texts, order, string, start, end, isAfter)
    open(order, find(isAfter = false), find(isAfter = true), test = !required.isAll)
  }

  /** The rows whose texts have the rarest three bytes of a string. */
  private def withTrigram(string: Array[Byte]): Unit = {
    val rarest = index.trigrams.rarest(string)
    val (from, until) = (index.trigrams.starts(rarest), index.trigrams.starts(rarest + 1))
    within(index.trigrams.postings, from, until)
  }

  /** The rows of the group among the rows of a list, from one place until another. They are in ascending order. */
  private def within(rows: Array[Int], from: Int, until: Int): Unit =
    open(rows, firstAtLeast(rows, start, from, until), firstAtLeast(rows, end, from, until), true)

  private def firstAtLeast(rows: Array[Int], position: Int, from: Int, until: Int): Int = {
    val found = java.util.Arrays.binarySearch(rows, from, until, position)
    if (found < 0) -found - 1 else found
  }

  private def open(rows: Array[Int], from: Int, until: Int, test: Boolean): Unit = {
    source = rows
    at = from
    last = until
    areTested = test && tester != null
  }
}

private object TextsProber {
  private final val ListSize = 64
}
