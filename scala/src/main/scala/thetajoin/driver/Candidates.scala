package thetajoin.driver

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow
import org.apache.spark.sql.types.LongType

import thetajoin.accelerator.{BytesProber, LongProber, LongsProber}
import thetajoin.rowstore.ThetaRelation

/**
 * The candidate runs of one probe row at a time: those of the index, then the build rows whose own key could
 * not be evaluated. One for each task, used by generated and interpreted code alike.
 */
final class Candidates(relation: ThetaRelation) {
  import Candidates._

  private val prober = relation.index.newProber()
  private val longProber = prober match {
    case p: LongProber => p
    case _ => null
  }
  private val bytesProber = prober match {
    case p: BytesProber => p
    case _ => null
  }
  private val longsProber = prober match {
    case p: LongsProber => p
    case _ => null
  }
  private lazy val longKey = new SpecificInternalRow(Seq(LongType))
  private val indexed = relation.indexed
  private val always = relation.always
  private var state = Done
  private var tail: BuildTail = _
  private var runFrom = 0
  private var runUntil = 0

  def from: Int = runFrom
  def until: Int = runUntil

  /** The probe row has no match: a key is null, or its own condition fails. */
  def none(): Unit = state = Done

  /** The probe row's key could not be evaluated: every build row that can match is a candidate. */
  def all(): Unit = state = Everything

  def probe(key: Long): Unit = {
    if (longProber != null) longProber.probe(key)
    else {
      longKey.setLong(0, key)
      prober.probe(longKey)
    }
    state = Index
  }

  /** For a string or binary as the only key, if the prober is a [[BytesProber]]. */
  def probe(base: AnyRef, offset: Long, size: Int): Unit = {
    bytesProber.probe(base, offset, size)
    state = Index
  }

  /** For keys that are all numbers, if the prober is a [[LongsProber]]. */
  def probe(key: Array[Long]): Unit = {
    longsProber.probe(key)
    state = Index
  }

  def probe(keys: InternalRow): Unit = {
    prober.probe(keys)
    state = Index
  }

  /** In place of a probe row: build rows that are part of the result by themselves. */
  def buildRows(rows: BuildTail): Unit = {
    tail = rows
    state = Tail
  }

  /** With [[buildRows]]: whether those of the current run have a match. */
  def matched: Boolean = tail.matched

  def next(): Boolean = state match {
    case Index =>
      if (prober.next()) run(prober.from, prober.until)
      else {
        state = Done
        run(indexed, indexed + always)
      }
    case Done => false
    case Everything =>
      state = Done
      run(0, indexed + always)
    case Tail => tail.nextRun() && run(tail.from, tail.until)
  }

  private def run(from: Int, until: Int): Boolean = {
    runFrom = from
    runUntil = until
    from < until
  }
}

private object Candidates {
  final val Done = 0
  final val Index = 1
  final val Everything = 2
  final val Tail = 3
}
