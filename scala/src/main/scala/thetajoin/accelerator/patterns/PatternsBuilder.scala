package thetajoin.accelerator.patterns

import java.util.{Arrays, Comparator}

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.thetabridge.Cancellation
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, OrderedIndex}
import thetajoin.kit.PairValues
import thetajoin.kit.keys.KeyedNumbers

/** @param asksFirst whether one candidate of a probe row is enough */
private[patterns] final class PatternsBuilder(
    form: PatternForm,
    isExact: Boolean,
    asksFirst: Boolean,
    types: Seq[DataType]
) extends IndexBuilder {
  import PatternsBuilder._

  private val keys = new KeyedNumbers(types, values = 0)
  private val needs = mutable.ArrayBuffer.empty[Need]
  private val patterns = mutable.ArrayBuffer.empty[Array[Byte]]
  private var patternBytes = 0L

  /** Whether a pattern ignores case by itself, so that texts are folded to look for the strings of all patterns. */
  private var isFolded = false

  override def add(row: InternalRow): Unit = {
    keys.add(row)
    val pattern = row.getUTF8String(row.numFields - 1)
    val required = form.required(pattern)
    isFolded ||= required.isFolded
    val number = patterns.length
    if (required.anyOf.isEmpty) needs += Need.ofNothing(required.isAll, number)
    else
      required.anyOf.foreach { string =>
        val read = if (required.place == Place.End) string.reverse else string
        needs += Need(required.place.number, read, required.isAll, number)
      }
    patterns += pattern.getBytes
    patternBytes += pattern.numBytes
  }

  /** Besides the patterns: the strings that they need, their automaton, and the places of rows in five lists. */
  override def bytes: Long =
    keys.bytes + (BytesOfRows + 2) * rowBytes + (BytesOfNeed + 5 * 4L) * needs.length

  private def rowBytes: Long = patternBytes + 32L * patterns.length

  override def finish(): OrderedIndex = {
    val grouped = keys.grouped()
    val groups = grouped.groupOf
    val sorted =
      if (isFolded) needs.map(need => need.copy(string = Folding.of(need.string))).toArray
      else needs.toArray
    if (types.nonEmpty) testSmallGroups(sorted, groups, grouped.starts)
    val order = new NeedOrder(groups, cancellation)
    Arrays.sort(sorted, order)
    val states = math.max(LeastStates, BytesOfRows * rowBytes / BytesOfState)
    if (shorten(sorted, states)) Arrays.sort(sorted, order)
    index(sorted, groups)
  }

  /** To test the rows of a small group takes less time than to look for the strings of all groups. */
  private def testSmallGroups(
      needs: Array[Need],
      groups: Array[Int],
      starts: Array[Int]
  ): Unit = {
    var i = 0
    while (i < needs.length) {
      val group = groups(needs(i).row)
      if (starts(group + 1) - starts(group) < FewRows)
        needs(i) = Need.ofNothing(isAll = false, needs(i).row)
      i += 1
    }
  }

  private def index(sorted: Array[Need], groups: Array[Int]): OrderedIndex = {
    val strings = Array.fill(Place.Nowhere + 1)(mutable.ArrayBuffer.empty[Array[Byte]])
    val cells = new CellsBuilder(patterns.length)
    var last: Need = null
    sorted.foreach { need =>
      val isNew = last == null || !need.isOfSameString(last)
      if (isNew) {
        strings(need.place) += need.string
        cells.string()
      }
      if (isNew || groups(need.row) != groups(last.row)) cells.cell(groups(need.row))
      cells.row(need.row, need.isAll)
      last = need
    }
    val order = cells.order
    val tested =
      if (sorted.forall(_.isAll)) null
      else
        form.test.map(new PairValues(_, isLeft = false, order.map(patterns(_)))).orNull
    val index = new Patterns(
      keys.groups,
      strings.take(Place.Nowhere).map(of =>
        if (of.isEmpty) null else Automaton(of.toArray, cancellation)
      ),
      strings.map(_.size),
      cells.result(),
      tested,
      if (isFolded) Reading.Folded else form.reading,
      isExact,
      asksFirst,
      areOneEach = sorted.length == patterns.length
    )
    OrderedIndex(index, order)
  }
}

private object PatternsBuilder {

  /** So many rows of a group are tested one by one. */
  private val FewRows = 8

  /** An automaton takes no more memory than so many times the rows' own, but has so many states in any case. */
  private val BytesOfRows = 3L

  /** Without the bytes of its string. */
  private val BytesOfNeed = 64L
  private val BytesOfState = 17L
  private val LeastStates = 1L << 20

  /** @param place the number of a [[Place]] */
  final case class Need(place: Int, string: Array[Byte], isAll: Boolean, row: Int) {
    def isOfSameString(other: Need): Boolean =
      place == other.place && Arrays.equals(string, other.string)
  }

  object Need {
    def ofNothing(isAll: Boolean, row: Int): Need =
      Need(Place.Nowhere, Array.emptyByteArray, isAll, row)
  }

  /**
   * Cuts off the bytes beyond so many of each string, as few as keep the automata to so many states. The cut strings
   * are then only a part of a text's needs. Whether any was cut.
   */
  private def shorten(sorted: Array[Need], states: Long): Boolean = {
    val length = longest(sorted, states)
    var isAny = false
    var i = 0
    while (i < sorted.length) {
      val need = sorted(i)
      if (need.string.length > length) {
        sorted(i) = need.copy(string = Arrays.copyOf(need.string, length), isAll = false)
        isAny = true
      }
      i += 1
    }
    isAny
  }

  private def longest(sorted: Array[Need], states: Long): Int = {
    // Of each length, how many beginnings of strings there are.
    val beginnings = new mutable.ArrayBuffer[Long]
    var i = 0
    while (i < sorted.length) {
      val string = sorted(i).string
      val known =
        if (i == 0 || sorted(i).place != sorted(i - 1).place) 0
        else math.max(Arrays.mismatch(string, sorted(i - 1).string), 0)
      while (beginnings.length < string.length) beginnings += 0L
      if (!(i > 0 && sorted(i).isOfSameString(sorted(i - 1)))) {
        var length = known
        while (length < string.length) {
          beginnings(length) += 1
          length += 1
        }
      }
      i += 1
    }
    val all = beginnings.scanLeft(0L)(_ + _).tail
    math.max(1, all.takeWhile(_ <= states).length)
  }

  /** By place and string, then by group. Rows that need a test come last, and otherwise rows are as they arrived. */
  final class NeedOrder(groups: Array[Int], cancellation: Cancellation)
      extends Comparator[Need] {
    override def compare(a: Need, b: Need): Int = {
      cancellation.count(1)
      if (a.place != b.place) Integer.compare(a.place, b.place)
      else {
        val strings = Arrays.compareUnsigned(a.string, b.string)
        if (strings != 0) strings
        else if (groups(a.row) != groups(b.row)) Integer.compare(groups(a.row), groups(b.row))
        else if (a.isAll != b.isAll) java.lang.Boolean.compare(b.isAll, a.isAll)
        else Integer.compare(a.row, b.row)
      }
    }
  }
}
