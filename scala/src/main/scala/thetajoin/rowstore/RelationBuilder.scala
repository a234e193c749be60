package thetajoin.rowstore

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  Predicate,
  UnsafeProjection,
  UnsafeRow
}

import thetajoin.accelerator.{IndexSpec, KeyErrors}

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
  private val project = UnsafeProjection.create(stored)
  private val evaluateKeys = UnsafeProjection.create(keys)
  private val passes = filter.map(Predicate.create)
  private val index = spec.newBuilder(keys.map(_.dataType))
  private val indexed, always, never = new mutable.ArrayBuilder.ofInt
  private var rows = 0

  def add(row: InternalRow): Unit =
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
        addTo(indexed, row)
      }
    }

  private def hasNull(key: UnsafeRow): Boolean = key.numFields > 0 && key.anyNull

  private def addUnmatchable(row: InternalRow): Unit = if (keepUnmatchable) addTo(never, row)

  private def addTo(part: mutable.ArrayBuilder.ofInt, row: InternalRow): Unit = {
    store.add(if (stored.isEmpty) row else project(row))
    part.addOne(rows)
    rows += 1
  }

  def result(): ThetaRelation = {
    val arrivals = indexed.result()
    val alwaysRows = always.result()
    val ordered = index.finish()
    val order = ordered.order.map(arrivals(_)) ++ alwaysRows ++ never.result()
    new ThetaRelation(
      store.result().reordered(order),
      ordered.index,
      ordered.order.length,
      alwaysRows.length,
      System.nanoTime() - started
    )
  }
}
