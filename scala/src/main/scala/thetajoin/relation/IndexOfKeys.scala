package thetajoin.relation

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.LongType

import thetajoin.Yardsticks
import thetajoin.contract.{IndexBuilder, OrderedIndex}
import thetajoin.kit.keys.{Groupings, LongSet}
import thetajoin.rowstore.RowPacker

/**
 * Takes build rows for an index of their equality keys alone, while it may be that few rows have the same keys. The
 * rows of a probe row's key are then tested in less time than any index takes to leave some of them out. The keys of
 * the join's own index wait here until that is known.
 *
 * @param keys the equality keys, bound to the build side's output
 * @param allKeys how many keys the join's own index takes
 */
private[relation] final class IndexOfKeys(keys: Seq[Expression], allKeys: Int) {
  import IndexOfKeys._

  private val evaluate = UnsafeProjection.create(keys)
  private val grouping = Groupings.by(keys.map(_.dataType))
  private val isNumber = keys.map(_.dataType) == Seq(LongType)
  private val distinct = new LongSet
  private val waiting = new RowPacker(allKeys)
  private val mostRows = Yardsticks.MostWaitingRows()
  private var rows = 0

  /** The keys of a row; null if one of them is, so that the row has no match. The next row's keys overwrite them. */
  def of(row: InternalRow): UnsafeRow = {
    val key = evaluate(row)
    if (key.anyNull) null else key
  }

  /**
   * Adds the row of these equality keys, with the keys that the join's own index would take. False if that index is
   * to be built: it has to be given the rows that [[giveTo]] has.
   */
  def add(key: UnsafeRow, all: UnsafeRow): Boolean = {
    distinct.add(if (isNumber) key.getLong(0) else key.hashCode)
    grouping.add(key)
    waiting.add(all)
    rows += 1
    rows < mostRows && (rows % RowsPerCheck != 0 || rows < Yardsticks.FewRowsOfKey() * distinct.size.toLong)
  }

  /** The bytes that are held, if the keys that wait are still to go to the join's own index. */
  def bytes: Long = 2 * waiting.bytes + grouping.bytes + distinct.bytes

  def giveTo(index: IndexBuilder): Unit = {
    val cursor = waiting.result().newCursor()
    var i = 0
    while (i < rows) {
      index.add(cursor.at(i))
      i += 1
    }
  }

  /** After all rows: the index, if few rows have the same keys. */
  def result(): Option[OrderedIndex] =
    if (rows < Yardsticks.IndexOfKeysRows()) None
    else {
      val grouped = grouping.grouped()
      if (areFew(grouped.starts))
        Some(OrderedIndex(grouping.index(grouped.starts), grouped.order))
      else None
    }

  /** How many rows a probe row looks at on average, if it has the key of a build row chosen at random. */
  private def areFew(starts: Array[Int]): Boolean = {
    var most = 0L
    var squares = 0L
    var i = 1
    while (i < starts.length) {
      val rows = (starts(i) - starts(i - 1)).toLong
      most = math.max(most, rows)
      squares += rows * rows
      i += 1
    }
    most <= Yardsticks.MostRowsOfKey() && squares < Yardsticks.FewRowsOfKey() * starts.last.toLong
  }
}

private object IndexOfKeys {

  private val RowsPerCheck = 1024
}
