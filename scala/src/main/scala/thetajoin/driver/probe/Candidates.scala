package thetajoin.driver.probe

import scala.reflect.ClassTag

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.thetabridge.Cancellation

import thetajoin.aggregate.RunFold
import thetajoin.contract.{
  BatchProber,
  BytesProber,
  ListProber,
  LongsProber,
  NarrowingProber,
  Prober
}
import thetajoin.driver.unmatched.{BuildTail, UnmatchedRows}
import thetajoin.relation.ThetaRelation

/**
 * The candidate runs of one probe row at a time: the runs of the index, then the build rows whose own key could not
 * be evaluated. There is one for each task, used by generated and interpreted code alike. A killed task ends here,
 * however many candidates it looks at before it gives a row.
 *
 * @param fold set if aggregate functions take runs: a run of the index is given as a whole, however long. Else null
 */
final class Candidates(relation: ThetaRelation, inBatches: Boolean, fold: RunFold) {
  import Candidates._

  def this(relation: ThetaRelation) = this(relation, inBatches = false, fold = null)

  private var prober: Prober =
    if (inBatches) relation.index.newBatchProber().get else relation.index.newProber()
  private var batchProber = as[BatchProber](prober)
  private val listProber = as[ListProber](prober)
  private val lists = listProber != null
  private val bytesProber = as[BytesProber](prober)
  private var longsProber = as[LongsProber](prober)
  private val narrowingProber = as[NarrowingProber](prober)
  private val indexed = relation.indexed
  private val always = relation.always

  /** The state of a probe row for which the index has no candidates. */
  private val withoutIndex = if (always > 0) Always else Done
  private lazy val part = new Array[Int](PartRows)
  private var partFrom, partEnd, runFrom, runUntil, endOfLong = 0
  private var list = Array.emptyIntArray
  private var tail: BuildTail = _
  private var found, isSetsTurn = false
  private val cancellation = new Cancellation
  private var state, afterLong = Done

  /** Marks all candidates of the current run. */
  def mark(unmatched: UnmatchedRows): Unit =
    if (lists) unmatched.markListed(list, runFrom, runUntil)
    else unmatched.markRun(runFrom, runUntil)

  def from: Int = runFrom
  def until: Int = runUntil

  /** Whether runs are of places in [[positions]]. */
  def listsPositions: Boolean = lists

  /** If so: where the build rows stand, by place. */
  def positions: Array[Int] = list

  /** Whether no key failed of the probe row and of the build rows of the current run. */
  def areFound: Boolean = found

  /** Where the build row at a place of the current run stands. */
  def position(place: Int): Int = if (lists) list(place) else place

  /** The probe row has no match: a key is null, or its own condition fails. */
  def none(): Unit = state = Done

  /** The probe row's key could not be evaluated: every build row that can match is a candidate. */
  def all(): Unit = state = Everything

  /** For a string or binary as the only key, if the prober is a [[BytesProber]]. */
  def probe(base: AnyRef, offset: Long, size: Int): Unit = {
    bytesProber.probe(base, offset, size)
    state = Index
  }

  /** For keys that are all numbers, if the prober is a [[LongsProber]]. */
  def probe(key: Array[Long]): Unit = {
    if (isSetsTurn) toSets()
    state = if (longsProber.probe(key)) Index else withoutIndex
  }

  def probe(keys: InternalRow): Unit = {
    if (isSetsTurn) toSets()
    prober.probe(keys)
    state = Index
  }

  private def toSets(): Unit = {
    isSetsTurn = false
    prober = fold.sets.fold(prober)(_.newProber())
    longsProber = as[LongsProber](prober)
    batchProber = as[BatchProber](prober)
  }

  /** No candidate of a higher rank is needed any more: see [[NarrowingProber]]. */
  def narrow(rank: Long): Unit = if (narrowingProber != null) narrowingProber.narrow(rank)

  /** For a batch: the group of an equality key that is a number, or of no keys. */
  def group(key: Long): Int = known(batchProber.group(key))

  /** The group of other equality keys. */
  def group(keys: InternalRow): Int = known(batchProber.group(keys))

  private def known(group: Int): Int =
    if (group >= 0) group else if (always > 0) AlwaysGroup else NoGroup

  /** For a row of a batch: the result of [[group]], or one of the groups that stand for something else. */
  def probe(group: Int, first: Long, second: Long): Unit =
    if (group >= 0) {
      if (isSetsTurn) toSets()
      batchProber.probe(group, first, second)
      state = Index
    } else
      state = group match {
        case AlwaysGroup => Always
        case EveryGroup => Everything
        case _ => Done
      }

  /** In place of a probe row: build rows that are part of the result by themselves. */
  def buildRows(rows: BuildTail): Unit = {
    tail = rows
    partFrom = partEnd
    state = Tail
    found = false
  }

  /** Puts the rows that were chosen among the candidates of a probe row in their place. */
  def choose(rows: FirstRows): Unit = {
    list = rows.positions
    runFrom = 0
    runUntil = rows.size
    state = Chosen
  }

  /** With [[buildRows]]: whether the rows of the current run have a match. */
  def matched: Boolean = tail.matched

  def next(): Boolean = state match {
    case Index =>
      if (prober.next()) {
        if (lists) list = listProber.positions
        found = true
        if (fold != null) fold.count(prober.from, prober.until)
        run(prober.from, prober.until)
      } else {
        cancellation.count(1)
        if (fold != null) isSetsTurn = !lists && fold.wantsSets()
        lastRun(indexed)
      }
    case Done => false
    case Always => lastRun(indexed)
    case Everything => lastRun(0)
    case Long =>
      if (endOfLong - runUntil > MostOfRun) run(runUntil, runUntil + MostOfRun)
      else {
        state = afterLong
        run(runUntil, endOfLong)
      }
    case Rest => partFrom < partEnd && nextPart()
    case Chosen =>
      state = Done
      runUntil > 0
    case Tail =>
      if (partFrom < partEnd) nextPart()
      else tail.nextRun() && runOfRows(tail.from, tail.until)
  }

  private def lastRun(from: Int): Boolean = {
    state = Rest
    found = false
    runOfRows(from, indexed + always)
  }

  /** These positions, or a list of the first of them. */
  private def runOfRows(from: Int, until: Int): Boolean =
    if (!lists) run(from, until)
    else {
      partFrom = from
      partEnd = until
      from < until && nextPart()
    }

  private def nextPart(): Boolean = {
    val rows = math.min(partEnd - partFrom, PartRows)
    var i = 0
    while (i < rows) {
      part(i) = partFrom + i
      i += 1
    }
    partFrom += rows
    list = part
    run(0, rows)
  }

  /**
   * A long run is given in parts, so that no loop over a run has to ask for anything but its pairs; as a whole if the
   * index found it, and runs are not looped over.
   */
  private def run(from: Int, until: Int): Boolean = {
    runFrom = from
    runUntil = until
    if (until - from > MostOfRun && (fold == null || !found)) {
      runUntil = from + MostOfRun
      endOfLong = until
      afterLong = state
      state = Long
    }
    cancellation.count(runUntil - from)
    from < until
  }
}

private[driver] object Candidates {
  private def as[P >: Null](prober: Prober)(implicit of: ClassTag[P]): P = of.unapply(prober).orNull

  private final val Done = 0
  private final val Index = 1
  private final val Always = 2
  private final val Everything = 3
  private final val Rest = 4
  private final val Tail = 5
  private final val Long = 6
  private final val Chosen = 7

  /**
   * Groups of a batch that are none of the index: the rows that can match but are in no group; no rows; all of them;
   * a [[BuildTail]].
   */
  final val AlwaysGroup = -1
  final val NoGroup = -2
  final val EveryGroup = -3
  final val TailGroup = -4
  final val LeastGroup = TailGroup

  private final val PartRows = 1024

  /** So many take less than a second, however slow the residual is. */
  private final val MostOfRun = 16384
}
