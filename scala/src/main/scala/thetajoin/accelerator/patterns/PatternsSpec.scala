package thetajoin.accelerator.patterns

import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, IndexSpec, OrderedIndex}
import thetajoin.kit.keys.KeyedNumbers
import thetajoin.kit.{IntsBuilder, PairValues}

/**
 * Patterns by the strings that texts need to match them. A key row has the keys that must be equal, then the pattern or the text.
 *
 * @param keys how many columns must be equal
 * @param isExact whether candidates are not tested again, so that a pattern which can't be used has to raise its error
 */
private[patterns] final case class PatternsSpec(keys: Int, form: PatternForm, isExact: Boolean)
    extends IndexSpec {
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new PatternsBuilder(this, keyTypes.take(keys))
}

private final class PatternsBuilder(spec: PatternsSpec, types: Seq[DataType])
    extends IndexBuilder {
  import PatternsBuilder._

  private val keys = new KeyedNumbers(types, values = 0)
  private val needs = mutable.ArrayBuffer.empty[Need]
  private val patterns = mutable.ArrayBuffer.empty[Array[Byte]]
  private var rows = 0
  private var areOneEach = true

  override def add(row: InternalRow): Unit = {
    keys.add(row)
    val pattern = row.getUTF8String(row.numFields - 1)
    val required = spec.form.required(pattern)
    patterns += pattern.getBytes
    if (required.anyOf.isEmpty) needs += Need(Always, Array.emptyByteArray, required.isAll, rows)
    else {
      val place = Places.indexOf(required.place)
      required.anyOf.foreach { string =>
        needs += Need(
          place,
          if (required.place == Place.End) string.reverse else string,
          required.isAll,
          rows
        )
      }
    }
    areOneEach &&= required.anyOf.size <= 1
    rows += 1
  }

  override def finish(): OrderedIndex = {
    val grouped = keys.grouped()
    val groups = grouped.groupOf
    val sorted = if (grouped.size * FewRows > rows && types.nonEmpty) tests else needs.toArray
    Arrays.sort(sorted, new NeedOrder(groups))
    val strings = Array.fill(Always + 1)(mutable.ArrayBuffer.empty[Array[Byte]])
    val cells = new CellsBuilder(rows)
    var last: Need = null
    sorted.foreach { need =>
      val isNew = last == null || last.place != need.place ||
        !Arrays.equals(last.string, need.string)
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
      else new PairValues(spec.form.test, isLeft = false, order.map(patterns(_)))
    val index = new Patterns(
      keys.groups,
      strings.take(Always).map(of => if (of.isEmpty) null else Automaton(of.toArray)),
      strings.map(_.size),
      cells.result(),
      tested,
      spec.form.areCharacters,
      spec.isExact,
      areOneEach
    )
    OrderedIndex(index, order)
  }

  /** Where groups have few rows each, to test them takes less time than to look for strings of all groups. */
  private def tests: Array[Need] =
    Array.tabulate(rows)(row => Need(Always, Array.emptyByteArray, isAll = false, row))
}

private object PatternsBuilder {
  val Places: IndexedSeq[Place] = IndexedSeq(Place.Anywhere, Place.Start, Place.End)

  /** So many rows of a group are tested one by one. */
  val FewRows: Int = 8

  /** Comes after the places: nothing is needed. */
  val Always: Int = Places.size

  /** @param place the number of one of the places */
  final case class Need(place: Int, string: Array[Byte], isAll: Boolean, row: Int)

  /** By place and string, then by group. Those that need a test come last, and rows as they arrived. */
  final class NeedOrder(groups: Array[Int]) extends java.util.Comparator[Need] {
    override def compare(a: Need, b: Need): Int =
      if (a.place != b.place) Integer.compare(a.place, b.place)
      else {
        val strings = Arrays.compareUnsigned(a.string, b.string)
        if (strings != 0) strings
        else if (groups(a.row) != groups(b.row)) Integer.compare(groups(a.row), groups(b.row))
        else if (a.isAll != b.isAll) java.lang.Boolean.compare(b.isAll, a.isAll)
        else Integer.compare(a.row, b.row)
      }
  }

  /** Takes strings, and after each its cells, and after each of these its rows. */
  final class CellsBuilder(rows: Int) {
    private val cells, groups, starts, tested, postings = new IntsBuilder
    private val positions = Array.fill(rows)(-1)
    private val arrived = new IntsBuilder
    private var testedFrom = 0

    def string(): Unit = {
      endCell()
      cells.add(groups.length)
    }

    def cell(group: Int): Unit = {
      endCell()
      groups.add(group)
      starts.add(postings.length)
      testedFrom = postings.length
    }

    def row(row: Int, isAll: Boolean): Unit = {
      if (positions(row) < 0) {
        positions(row) = arrived.length
        arrived.add(row)
      }
      postings.add(positions(row))
      if (isAll) testedFrom = postings.length
    }

    private def endCell(): Unit = if (tested.length < groups.length) tested.add(testedFrom)

    /** Rows in the order of their positions. */
    def order: Array[Int] = arrived.result()

    def result(): Cells = {
      endCell()
      cells.add(groups.length)
      starts.add(postings.length)
      new Cells(
        cells.result(),
        groups.result(),
        starts.result(),
        tested.result(),
        postings.result()
      )
    }
  }
}
