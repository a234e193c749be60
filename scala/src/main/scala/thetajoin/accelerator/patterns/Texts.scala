package thetajoin.accelerator.patterns

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.contract.{JoinIndex, Prober}
import thetajoin.kit.keys.Groups
import thetajoin.kit.{IntsBuilder, PairTester, PairValues, Stamps}

/**
 * @param starts where the rows of each group start, and the end of the last
 * @param texts by position, those of each group in the order of their bytes
 * @param backwards positions, those of each group by texts from their ends; null if no string is needed there
 * @param trigrams null if no string is needed anywhere, or the texts are too many
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
    private[patterns] val tested: PairValues,
    private[patterns] val form: PatternForm,
    private[patterns] val isExact: Boolean,
    private[patterns] val asksFirst: Boolean
) extends JoinIndex {
  override val bytes: Long = groups.bytes + 4L * starts.length +
    texts.foldLeft(0L)((sum, text) => sum + 24L + text.length) +
    (if (backwards == null) 0L else 4L * backwards.length) +
    (if (trigrams == null) 0L else trigrams.bytes)

  override def keyCount: Int = starts.length - 1

  override def newProber(): Prober = new TextsProber(this)
}

/** Looks up the strings that a text needs to match a pattern. */
private final class TextsProber(index: Texts) extends Prober {
  private val finder = new Groups.Finder(index.groups)
  private val tester =
    if (index.tested == null) null else new PairTester(index.tested, errorsPass = !index.isExact)
  private lazy val taken = new Stamps(0)
  private val enough = if (index.asksFirst) 1 else TextsProber.ListSize
  private val collected = new IntsBuilder

  private var required = Required.Nothing

  /** Strings that are still to be looked up; none counts as one. */
  private var remaining = 0

  /** Whether a row may be found by several strings. */
  private var mayRepeat = false
  private var start = 0
  private var end = 0

  /** Where the rows stand of the string that is looked at, in a list of positions or, if there is none, by themselves. */
  private var source: Array[Int] = _
  private var at = 0
  private var last = 0
  private var areTested = false

  /** Whether the tester has been started on the pattern. */
  private var isTesting = false

  override def lists: Boolean = true
  override def positions: Array[Int] = collected.array

  override def probe(row: InternalRow): Unit = {
    val group = finder.find(row)
    at = last
    isTesting = group >= 0 && tester != null
    remaining = 0
    if (group >= 0) {
      val pattern = row.getUTF8String(row.numFields - 1)
      required = index.form.required(pattern)
      start = index.starts(group)
      end = index.starts(group + 1)
      if (isTesting) tester.start(pattern.getBytes)
      remaining = math.max(required.anyOf.size, 1)
      mayRepeat = required.anyOf.size > 1
      if (mayRepeat) taken.restart()
    }
  }

  override def next(): Boolean = {
    collected.clear()
    while (collected.length < enough && hasRow) {
      val row = if (source == null) at else source(at)
      at += 1
      if (isNew(row) && (!areTested || tester.holds(row))) collected.add(row)
    }
    runFrom = 0
    runUntil = collected.length
    if (runUntil == 0 && isTesting) tester.raiseDeferred()
    runUntil > 0
  }

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
      if (required.anyOf.isEmpty) all(!required.isAll)
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
    val rows = index.trigrams.postings
    val (from, until) = (index.trigrams.starts(rarest), index.trigrams.starts(rarest + 1))
    open(rows, firstAtLeast(rows, start, from, until), firstAtLeast(rows, end, from, until), true)
  }

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

/**
 * The rows whose texts have three bytes in a row, whatever these are. Those whose hashes are equal count as the same.
 *
 * @param starts by hash, the first place in `postings`; one more at the end
 * @param postings positions in ascending order
 */
private[patterns] final class Trigrams(
    private[patterns] val starts: Array[Int],
    private[patterns] val postings: Array[Int]
) extends Serializable {
  private val shift = Trigrams.shift(starts.length - 1)

  def bytes: Long = 4L * (starts.length + postings.length)

  /** The hash of those three bytes of a string that the fewest texts have. */
  def rarest(string: Array[Byte]): Int = {
    var rarest = -1
    var i = 0
    while (i + Trigrams.Size <= string.length) {
      val hash = Trigrams.hash(string, i, shift)
      if (rarest < 0 || count(hash) < count(rarest)) rarest = hash
      i += 1
    }
    rarest
  }

  private def count(hash: Int): Int = starts(hash + 1) - starts(hash)
}

private[patterns] object Trigrams {
  final val Size = 3

  /** Of texts by position; null if they are too long for an array. */
  def of(texts: Array[Array[Byte]]): Trigrams = {
    val length = texts.foldLeft(0L)(_ + _.length)
    if (length > Int.MaxValue - 16L) null
    else {
      val hashes = Integer.highestOneBit(math.min(math.max(length, FewestHashes), MostHashes).toInt)
      val starts = new Array[Int](hashes + 1)
      each(texts, hashes)((_, hash) => starts(hash + 1) += 1)
      for (hash <- 0 until hashes) starts(hash + 1) += starts(hash)
      val next = starts.clone()
      val postings = new Array[Int](starts(hashes))
      each(texts, hashes) { (row, hash) =>
        postings(next(hash)) = row
        next(hash) += 1
      }
      new Trigrams(starts, postings)
    }
  }

  /** Once for each row and hash. */
  private def each(texts: Array[Array[Byte]], hashes: Int)(use: (Int, Int) => Unit): Unit = {
    val lastRow = new Array[Int](hashes)
    java.util.Arrays.fill(lastRow, -1)
    val shift = this.shift(hashes)
    var row = 0
    while (row < texts.length) {
      val text = texts(row)
      var i = 0
      while (i + Size <= text.length) {
        val hash = this.hash(text, i, shift)
        if (lastRow(hash) != row) {
          lastRow(hash) = row
          use(row, hash)
        }
        i += 1
      }
      row += 1
    }
  }

  private def shift(hashes: Int): Int = Integer.numberOfLeadingZeros(hashes) + 1

  private def hash(text: Array[Byte], i: Int, shift: Int): Int = {
    val bytes = (text(i) & 0xff) << 16 | (text(i + 1) & 0xff) << 8 | (text(i + 2) & 0xff)
    (bytes * Golden) >>> shift
  }

  /** The bits of the golden ratio, which spread neighbours (Knuth, volume 3, 6.4). */
  private final val Golden = 0x9e3779b1

  private final val FewestHashes = 1L << 8
  private final val MostHashes = 1L << 22
}
