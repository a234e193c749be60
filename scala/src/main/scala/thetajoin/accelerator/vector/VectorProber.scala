package thetajoin.accelerator.vector

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.condition.OrderedLong
import thetajoin.contract.{BatchProber, ListProber, NarrowingProber, Prober}
import thetajoin.kit.IntsBuilder

/**
 * {{{
 *   Computed  ->  Range  ->  More  (again and again)  ->  Done
 * }}}
 *
 * Gives the rows whose scores are high enough, then the unusual ones. If matches are ranked, the rows with high
 * scores may be among the first. If the join does not find as many matches among these as it asks for, it gets more.
 */
private[vector] final class VectorProber(index: VectorRows)
    extends Prober
    with BatchProber
    with ListProber
    with NarrowingProber {
  import VectorProber._

  private val asked = index.asked
  private val isRanked = asked.rank != null
  private val probes = new ProbeVectors(index)
  private val block = new ProbeBlock(index, probes, cancellation)

  /** The rows of the slots from one until another, which were computed together. */
  private val computed = Array.tabulate(MostSlots)(i => rowsOf(computedFrom + i))
  private var computedFrom = 0
  private var computedUntil = 0

  /** As many as leave no more rows than are kept, as far as is known. */
  private var slotsAtOnce = MostSlots
  private val more = Array(rowsOf(slot))
  private var isProbing = false

  /** The slot whose rows are given. */
  private var slot = 0

  /** All rows with this score or a higher one have been given. */
  private var reached = 0f

  /** Rows that the join needs have this score at least. */
  private var needed = 0f

  /** Whether the join has as many matches as it asks for. */
  private var isNarrowed = false
  private var asksFor = 0L

  /** Positions that are given as they stand, from one until another. */
  private var at = 0
  private var end = 0
  private var state = Done
  private var list = Array.emptyIntArray
  private val collected = new IntsBuilder

  private def rowsOf(slot: => Int) = new ScoredRows(last =>
    (probes.leastScore(
      slot,
      asked.rank,
      probes.value(slot, asked.rank, last)
    ) - 2 * probes.slack).toFloat
  )

  override def positions: Array[Int] = list

  override def group(key: Long): Int =
    throw new UnsupportedOperationException("a vector is no number")

  override def group(row: InternalRow): Int = {
    if (isProbing) clear()
    probes.add(row)
  }

  override def probe(row: InternalRow): Unit = {
    clear()
    if (probes.add(row) < 0) state = Done else probe(0, 0L, 0L)
  }

  private def clear(): Unit = {
    isProbing = false
    probes.clear()
    computedUntil = 0
  }

  /** Slots are asked for from the last to the first. */
  override def probe(slot: Int, first: Long, second: Long): Unit = {
    isProbing = true
    if (slot < computedFrom || slot >= computedUntil) computeUntil(slot + 1)
    this.slot = slot
    val group = probes.group(slot)
    val kind = probes.kind(slot)
    at = if (kind == ProbeVectors.Every) index.starts(group) else index.unusual(group)
    end = index.starts(group + 1)
    needed = probes.leastScore(slot)
    isNarrowed = false
    asksFor = asked.most
    reached = needed
    state = if (kind == ProbeVectors.Scored) Computed else Range
  }

  private def computeUntil(until: Int): Unit = {
    computedUntil = until
    var rows = -1
    while (rows < 0) {
      computedFrom = math.max(0, until - slotsAtOnce)
      rows = compute()
      if (rows < 0) {
        slotsAtOnce = (until - computedFrom) / 2
        // Blocks that are not used release their memory.
        computed.drop(slotsAtOnce).foreach(_.start(0f, 0))
      }
    }
    if (rows < MostRows / 8) slotsAtOnce = math.min(slotsAtOnce * 2, MostSlots)
  }

  /** How many rows there are in the end; -1 if too many for so many slots. */
  private def compute(): Int = {
    val slots = Array.range(computedFrom, computedUntil)
      .filter(probes.kind(_) == ProbeVectors.Scored).sortBy(probes.group)
    val targets = slots.map(s => computed(s - computedFrom))
    slots.indices.foreach(i => start(targets(i), slots(i)))
    val mostRows = if (computedUntil - computedFrom == 1) Int.MaxValue else MostRows
    var first = 0
    var rows = 0
    var goesOn = true
    while (first < slots.length && goesOn) {
      var last = first + 1
      while (last < slots.length && probes.group(slots(last)) == probes.group(slots(first)))
        last += 1
      goesOn = block.meet(slots, targets, first, last, mostRows - rows)
      while (first < last) {
        targets(first).prune()
        rows += targets(first).size
        first += 1
      }
    }
    if (goesOn) rows else -1
  }

  private def start(rows: ScoredRows, slot: Int): Unit =
    rows.start(probes.leastScore(slot), if (isRanked) asked.most else Int.MaxValue)

  override def narrow(rank: Long): Unit = if (isRanked && state != Done) {
    val value = OrderedLong.toDouble(if (asked.isDescending) ~rank else rank)
    needed = math.max(needed, probes.leastScore(slot, asked.rank, value))
    isNarrowed = true
  }

  override def next(): Boolean = {
    var found = false
    while (!found && state != Done) found = nextOf(state)
    found
  }

  private def nextOf(current: Int): Boolean = current match {
    case Computed =>
      val rows = computed(slot - computedFrom)
      reached = rows.least
      list = rows.positions
      state = Range
      run(rows.size)
    case Range if at < end =>
      collected.clear()
      val until = math.min(at + ListSize, end)
      while (at < until) {
        collected.add(at)
        at += 1
      }
      runCollected()
    case Range =>
      state = More
      false
    case _ if reached <= needed =>
      state = Done
      false
    case _ => giveMore()
  }

  /** Gives rows with lower scores than the rows before. */
  private def giveMore(): Boolean = {
    val above = reached
    asksFor = math.min(asksFor * MoreRows, Int.MaxValue.toLong)
    val rows = more(0)
    rows.start(needed, if (isNarrowed) Int.MaxValue else asksFor.toInt)
    block.meet(Array(slot), more, 0, 1, Int.MaxValue): Unit
    rows.prune()
    reached = rows.least
    collected.clear()
    var i = 0
    while (i < rows.size) {
      if (rows.score(i) < above) collected.add(rows.positions(i))
      i += 1
    }
    runCollected()
  }

  private def run(count: Int): Boolean = {
    runFrom = 0
    runUntil = count
    count > 0
  }

  private def runCollected(): Boolean = {
    list = collected.array
    run(collected.length)
  }
}

private object VectorProber {
  private final val Done = 0
  private final val Computed = 1
  private final val Range = 2
  private final val More = 3

  private final val ListSize = 1024

  /** Probe vectors that meet the panels together, if these leave no more than so many rows. */
  final val MostSlots = 192
  private final val MostRows = 1 << 20

  /** How many times more rows are looked for if there were too few matches before. */
  private final val MoreRows = 8L
}
