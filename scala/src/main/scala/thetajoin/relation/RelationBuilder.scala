package thetajoin.relation

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  Predicate,
  UnsafeProjection,
  UnsafeRow
}

import thetajoin.contract.{IndexSpec, KeyErrors}
import thetajoin.rowstore.{RowStore, RowStoreBuilder}

/**
 * Builds a [[ThetaRelation]] from the rows of the build side.
 *
 * @param keys bound to the build side's output
 * @param filter a condition on build rows alone: a row that fails it has no match
 * @param stored bound references of the columns to keep
 * @param keepUnmatchable whether rows that can't have a match are kept
 */
final class RelationBuilder(
    spec: IndexSpec,
    keys: Seq[Expression],
    filter: Option[Expression],
    stored: Seq[Expression],
    keepUnmatchable: Boolean
) {
  private val started = System.nanoTime()
  private val store = new RowStoreBuilder(stored.map(_.dataType))
  private lazy val project = UnsafeProjection.create(stored)
  private lazy val evaluateKeys = UnsafeProjection.create(keys)
  private val passes = filter.map(Predicate.create)
  private var index = spec.newBuilder(keys.map(_.dataType))
  private val always, never = new mutable.ArrayBuilder.ofInt

  /** The rows that are in the index; null while these are all rows. */
  private var indexed: mutable.ArrayBuilder.ofInt = _
  private var rows = 0

  /** Whether the index holds all that is asked of a row, once for each key: nothing is noted of rows. */
  private val ofKeysOnly = spec.isDistinct && spec.keyErrors == KeyErrors.Raised &&
    filter.isEmpty && stored.isEmpty && !keepUnmatchable

  def add(row: InternalRow): Unit =
    if (ofKeysOnly) {
      val key = evaluateKeys(row)
      if (!hasNull(key)) index.add(key)
    } else addRow(row)

  private def addRow(row: InternalRow): Unit =
    if (passes.exists(!_.eval(row))) addUnmatchable(row)
    else {
      val key =
        if (spec.keyErrors == KeyErrors.Raised) evaluateKeys(row)
        else
          try evaluateKeys(row)
          catch { case NonFatal(_) => null }
      if (key == null) addTo(always, row)
      else if (hasNull(key)) addUnmatchable(row)
      else {
        index.add(key)
        if (indexed != null) indexed.addOne(rows)
        keep(row)
      }
    }

  private def hasNull(key: UnsafeRow): Boolean =
    !spec.takesNulls && key.numFields > 0 && key.anyNull

  private def addUnmatchable(row: InternalRow): Unit = if (keepUnmatchable) addTo(never, row)

  private def addTo(part: mutable.ArrayBuilder.ofInt, row: InternalRow): Unit = {
    if (indexed == null) {
      indexed = new mutable.ArrayBuilder.ofInt
      indexed.addAll(Array.range(0, rows))
    }
    part.addOne(rows)
    keep(row)
  }

  private def keep(row: InternalRow): Unit = {
    store.add(if (stored.isEmpty) row else project(row))
    rows += 1
  }

  /** Called once. */
  def result(): ThetaRelation = {
    val ordered = index.finish()
    // What it has collected is let go of before columns are ordered.
    index = null
    val alwaysRows = always.result()
    new ThetaRelation(
      if (ofKeysOnly) RowStore.ofNoColumns(ordered.order.length)
      else if (indexed == null) store.result(ordered.order)
      else store.result(positions(ordered.order) ++ alwaysRows ++ never.result()),
      ordered.index,
      ordered.order.length,
      alwaysRows.length,
      System.nanoTime() - started
    )
  }

  private def positions(order: Array[Int]): Array[Int] = {
    val arrivals = indexed.result()
    val positions = new Array[Int](order.length)
    var i = 0
    while (i < order.length) {
      positions(i) = arrivals(order(i))
      i += 1
    }
    positions
  }
}
