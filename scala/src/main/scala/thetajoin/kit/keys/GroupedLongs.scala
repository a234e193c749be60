package thetajoin.kit.keys

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.contract.{JoinIndex, KeyBounds, LongsProber, Prober, SingleRunProber}
import thetajoin.kit.{LongOrder, LongsBuilder}

/** Groups rows by a key of 64 bits. Groups stand in ascending order of key. */
private[keys] final class GroupedLongsBuilder extends GroupingBuilder {
  private val keys = new LongsBuilder
  private var table: LongTable = _

  override def add(row: InternalRow): Unit = keys.add(row.getLong(0))

  /** The keys are held twice, as are the keys of groups, and row numbers in two orders. */
  override def bytes: Long =
    2 * keys.bytes + (2 * (8L + 4L) + 2 * 4L + LongTable.BytesOfKey) * keys.length

  override def grouped(): Grouping = {
    val rows = keys.length
    val ofRows = keys.array
    val order = LongOrder.ascending(ofRows, rows)
    val distinct = new Array[Long](rows)
    val starts = new Array[Int](rows + 1)
    var groups = 0
    var i = 0
    while (i < rows) {
      val key = ofRows(order(i))
      if (groups == 0 || distinct(groups - 1) != key) {
        distinct(groups) = key
        starts(groups) = i
        groups += 1
      }
      i += 1
    }
    starts(groups) = rows
    table = LongTable.numbered(Arrays.copyOf(distinct, groups))
    Grouping(Arrays.copyOf(starts, groups + 1), order)
  }

  override def index(starts: Array[Int]): JoinIndex = new GroupedLongs(table, starts)
  override def groups: Groups = Groups.OfNumbers(table)
}

/** Runs of equal keys: the rows of key number n are `[starts(n), starts(n + 1))`. */
private[thetajoin] final class GroupedLongs(table: LongTable, starts: Array[Int])
    extends JoinIndex
    with KeyBounds {
  override def least: Long = table.least
  override def greatest: Long = table.greatest
  override def bytes: Long = table.bytes + 4L * starts.length
  override def newProber(): Prober = new GroupedLongsProber(table, starts)
}

private final class GroupedLongsProber(table: LongTable, starts: Array[Int])
    extends SingleRunProber
    with LongsProber {
  override def probe(row: InternalRow): Unit = probe(row.getLong(0)): Unit
  override def probe(keys: Array[Long]): Boolean = probe(keys(0))

  private def probe(key: Long): Boolean = {
    val number = table.find(key)
    if (number < 0) run(0, 0) else run(starts(number), starts(number + 1))
    number >= 0
  }
}
