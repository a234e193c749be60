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
 * @param equalKeys the equality keys among `keys`, if an index of them alone may take the place of the specified one
 */
final class RelationBuilder(
    spec: IndexSpec,
    keys: Seq[Expression],
    filter: Option[Expression],
    stored: Seq[Expression],
    keepUnmatchable: Boolean,
    equalKeys: Seq[Expression]
) {
  private val started = System.nanoTime()
  private val store = new RowStoreBuilder(stored.map(_.dataType))
  private lazy val project = UnsafeProjection.create(stored)
  private lazy val evaluateKeys = UnsafeProjection.create(keys)
  private val passes = filter.map(Predicate.create)
  private var index = spec.newBuilder(keys.map(_.dataType))
  private var ofKeys = if (equalKeys.isEmpty) null else new IndexOfKeys(equalKeys, keys.size)
  private val always, never = new mutable.ArrayBuilder.ofInt

  /** The rows that are in the index; null while these are all rows. */
  private var indexed: mutable.ArrayBuilder.ofInt = _
  private var rows = 0

  /** Whether the index holds all that is asked of a row, once for each key: nothing is noted of rows. */
  private val holdsKeysOnly = spec.sieve.isDefined && spec.keyErrors == KeyErrors.Raised &&
    filter.isEmpty && stored.isEmpty && !keepUnmatchable

  /** About the most bytes that it would hold at once if no more rows came. */
  def bytes: Long = index.bytes + store.bytes + (if (ofKeys == null) 0L else ofKeys.bytes)

  /**
   * Takes all rows.
   *
   * @param hold is told the number of [[bytes]] now and then, and at the end
   */
  def addAll(rows: MeasuredRows)(hold: Long => Unit): Unit = {
    var next = RelationBuilder.Step
    while (rows.hasNext) {
      add(rows.next())
      if (rows.bytes >= next) {
        next = rows.bytes + RelationBuilder.Step
        hold(bytes)
      }
    }
    hold(bytes)
  }

  private def add(row: InternalRow): Unit =
    if (holdsKeysOnly) {
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
      else if (hasNull(key) || !addToIndex(row, key)) addUnmatchable(row)
      else {
        if (indexed != null) indexed.addOne(rows)
        keep(row)
      }
    }

  /** False if an equality key is null. */
  private def addToIndex(row: InternalRow, key: UnsafeRow): Boolean =
    if (ofKeys == null) {
      index.add(key)
      true
    } else {
      val equal = ofKeys.of(row)
      if (equal != null && !ofKeys.add(equal, key)) buildSpecified()
      equal != null
    }

  /** Many rows have the same keys, or too many wait: the index is the specified one. */
  private def buildSpecified(): Unit = {
    ofKeys.giveTo(index)
    ofKeys = null
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
    val found = Option(ofKeys).flatMap(_.result())
    if (ofKeys != null && found.isEmpty) buildSpecified()
    val ordered = found.getOrElse(index.finish())
    // The rows that it has collected are released before columns are ordered.
    index = null
    ofKeys = null
    val alwaysRows = always.result()
    new ThetaRelation(
      if (holdsKeysOnly) RowStore.ofNoColumns(ordered.order.length)
      else if (indexed == null) store.result(ordered.order)
      else store.result(positions(ordered.order) ++ alwaysRows ++ never.result()),
      ordered.index,
      ordered.order.length,
      alwaysRows.length,
      isOfKeys = found.isDefined,
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

private object RelationBuilder {

  /** Memory is asked for in such steps of bytes of rows. */
  private val Step = 1L << 20
}
