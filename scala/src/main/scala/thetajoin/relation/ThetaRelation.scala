package thetajoin.relation

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.execution.thetabridge.BroadcastableRelation

import thetajoin.contract.JoinIndex
import thetajoin.rowstore.RowStore

/**
 * The build side of a join: rows by position, and an index over them. Positions fall into three parts:
 *
 * {{{
 *   [0, indexed)                   candidates of the keys that the index says
 *   [indexed, indexed + always)    candidates of every key: their own key could not be evaluated
 *   [indexed + always, rows)       candidates of none; kept where unmatched build rows are part of the result
 * }}}
 *
 * @param isOfKeys whether the index answers the join's equality keys alone, in place of the one that was specified:
 *   see [[IndexOfKeys]]
 */
final class ThetaRelation(
    val store: RowStore,
    val index: JoinIndex,
    val indexed: Int,
    val always: Int,
    val isOfKeys: Boolean,
    val buildNanos: Long
) extends BroadcastableRelation {

  /** What the tasks of a JVM have made of the rows, by what it was made from. */
  @transient lazy val derived: ConcurrentHashMap[AnyRef, AnyRef] = new ConcurrentHashMap

  /** Bytes of rows and index. */
  def bytes: Long = store.bytes + index.bytes

  /** The size of the build side that Spark shows, and that adaptive execution uses. */
  override def estimatedSize: Long = bytes
}
