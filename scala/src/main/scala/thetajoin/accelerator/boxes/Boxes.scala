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
 */
final case class BoxesSpec(keys: Int, strict: Seq[Boolean], extents: Seq[Extent])
    extends IndexSpec {
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
    val tree = BoundTree(columns, groups.order)
    OrderedIndex(new Boxes(spec, rows.groups, groups.starts, tree), groups.order)
  }
}

/** @param starts where the rows of each group start, and the end of the last */
final class Boxes(spec: BoxesSpec, groups: Groups, starts: Array[Int], tree: BoundTree)
    extends JoinIndex {
  override def bytes: Long = groups.bytes + 4L * starts.length + tree.bytes

  override def keyCount: Int = starts.length - 1

  override def newProber(): Prober = groups match {
    case _: Groups.OfBytes => new BoxesProber(spec, groups, starts, tree)
    case _ => new BoxesProber(spec, groups, starts, tree) with LongsProber
  }
}

private class BoxesProber(spec: BoxesSpec, groups: Groups, starts: Array[Int], tree: BoundTree)
    extends GroupProber(groups) {
  private val isStrict = spec.strict.toArray
  private val least = new Array[Long](isStrict.length)
  private var cursor = 0
  private var end = 0

  override protected def none(): Unit = end = cursor

  override protected def probe(segment: Int, numbers: Array[Long], at: Int): Unit = {
    cursor = starts(segment)
    end = starts(segment + 1)
    var i = 0
    while (i < least.length) {
      val number = numbers(at + i)
      if (!isStrict(i)) least(i) = number
      else if (number < Long.MaxValue) least(i) = number + 1
      else end = cursor
      i += 1
    }
  }

  final override def next(): Boolean = {
    val found = if (cursor < end) tree.next(cursor, end, least) else end
    if (found >= end) {
      cursor = end
      false
    } else {
      cursor = tree.endOfRun(found + 1, end, least)
      runFrom = found
      runUntil = cursor
      true
    }
  }
}
