package thetajoin.accelerator.containment

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.contract.{JoinIndex, ListProber, NarrowingProber, OrderedIndex, Prober}
import thetajoin.kit.keys.{Grouping, Groups, KeyedNumbers}
import thetajoin.kit.{IntsBuilder, LongOrder, Stamps}

/**
 * Sets that are most alike first. A probe row goes through the rows of its tokens, from the rarest token on. A row that
 * is met for the first time has no more tokens in common than are still to come.
 *
 * Rows stand in order of size, so that rows of sizes that can't be alike enough are left out.
 *
 * @param signatures of the rows
 * @param groups of equality keys; a token has them too
 * @param starts where the rows of each group start in `members`, and the end of the last
 * @param members the rows of each group in order of size: the smallest first if pairs without a rank come first, else
 *   the largest
 */
final class NearestSets(
    val order: NearestOrder,
    val rows: RareFirst,
    val signatures: Array[Long],
    val groups: Groups,
    val starts: Array[Int],
    val members: Array[Int]
) extends JoinIndex {
  override def bytes: Long =
    rows.bytes + 8L * signatures.length + groups.bytes + 4L * (starts.length + members.length)

  override def newProber(): Prober = new NearestProber(this)
}

private[containment] object NearestSets {
  def apply(
      finder: TokenFinder,
      arrived: TokenSets,
      order: NearestOrder,
      keys: KeyedNumbers
  ): OrderedIndex = {
    val bySize = LongOrder.ascending(
      Array.tabulate(arrived.rows)(row => arrived.size(row).toLong),
      arrived.rows
    )
    val rows = RareFirst(finder, arrived, bySize)
    // Sets without tokens come first or last, as pairs without a rank do.
    val fromNulls = if (order.nulls == NearestOrder.NullsFirst) bySize else bySize.reverse
    val Grouping(starts, members) = keys.grouped(fromNulls)
    val position = new Array[Int](bySize.length)
    for (i <- bySize.indices) position(bySize(i)) = i
    OrderedIndex(
      new NearestSets(order, rows, rows.signatures, keys.groups, starts, members.map(position(_))),
      bySize
    )
  }
}

/**
 * {{{
 *   Rows without tokens, if they come first  ->  Rows of a token  (token after token)  ->  Other rows
 * }}}
 */
private final class NearestProber(index: NearestSets)
    extends Prober
    with ListProber
    with NarrowingProber {
  private val order = index.order
  private val (sets, postings) = (index.rows.sets, index.rows.postings)
  private val (signatures, members) = (index.signatures, index.members)
  private val reader = index.rows.finder.newReader()
  private val groups = new Groups.Finder(index.groups)
  private val probe = new ProbeSet(index.rows)
  private val seen = new Stamps(sets.rows)
  private val collected = new IntsBuilder

  /** Whether there are as many matches as are asked for, and the rank of the last of them. */
  private var isFull = false
  private var last = order.last

  /** The token whose rows are looked at, and the places of its rows that are still to come. */
  private var token = 0
  private var (at, end) = (0, 0)

  /** The rows of the group that are still to come. */
  private var (member, lastMember) = (0, 0)
  private var isAmongEmpty = false

  override def positions: Array[Int] = collected.array

  override def probe(row: InternalRow): Unit = {
    reader.read(row)
    probe.read(reader)
    seen.restart()
    isFull = false
    last = order.last
    token = -1
    at = 0
    end = 0
    val group = groups.find(row)
    member = if (group < 0) 0 else index.starts(group)
    lastMember = if (group < 0) 0 else index.starts(group + 1)
    isAmongEmpty = order.nulls == NearestOrder.NullsFirst
  }

  override def narrow(rank: Long): Unit = {
    isFull = true
    last = order.rank(rank)
  }

  override def next(): Boolean = {
    collected.clear()
    if (isAmongEmpty) addMembers()
    if (collected.length == 0) {
      isAmongEmpty = false
      if (at < end) leaveOut()
      while (collected.length == 0 && (at < end || nextToken())) search()
    }
    if (collected.length == 0) addMembers()
    runFrom = 0
    runUntil = collected.length
    runUntil > 0
  }

  private def isNeeded(common: Int, size: Int): Boolean =
    order.isBefore(last, common, size, probe.size)

  private def nextToken(): Boolean = {
    token += 1
    val most = probe.known - token
    val goesOn = most > 0 && isNeeded(most, most)
    if (goesOn) {
      at = postings.starts(probe.ranks(token))
      end = postings.starts(probe.ranks(token) + 1)
      leaveOut()
    }
    goesOn
  }

  /** Leaves out rows of the token that are too small or too large. A row of just the tokens to come is nearest. */
  private def leaveOut(): Unit = {
    val most = probe.known - token
    var (low, high) = (1, most)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (isNeeded(middle, middle)) high = middle else low = middle + 1
    }
    val from = place(sets.firstOfSize(low, from = 0))
    low = most - 1
    high = math.max(low, sets.mostSize)
    while (low < high) {
      val middle = (low + high + 1) >>> 1
      if (isNeeded(most, middle)) low = middle else high = middle - 1
    }
    end = place(sets.firstOfSize(low + 1, from = 0))
    at = math.max(at, from)
  }

  /** The place of the first row of the token from this one on. */
  private def place(row: Int): Int = {
    val found = if (at < end) Arrays.binarySearch(postings.rows, at, end, row) else ~at
    if (found < 0) ~found else found
  }

  private def search(): Unit = {
    val begin = at
    var (size, least) = (-1, 0)
    while (at < end && collected.length < NearestProber.RowsAtOnce) {
      val row = postings.rows(at)
      if (sets.size(row) != size) {
        size = sets.size(row)
        least = leastInCommon(size)
      }
      val lacks = java.lang.Long.bitCount(probe.signature & ~signatures(row))
      // The first token that both have is found first.
      if (lacks <= probe.known - least && seen.add(row) && probe.hasInCommon(row, token, least))
        collected.add(row)
      at += 1
    }
    cancellation.count(at - begin)
  }

  /** How many tokens a row of the current token needs in common, if it has so many. */
  private def leastInCommon(size: Int): Int = {
    var (low, high) = (1, math.min(probe.known - token, size) + 1)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (isNeeded(middle, size)) high = middle else low = middle + 1
    }
    low
  }

  /** Rows that were not met, as long as they are needed. */
  private def addMembers(): Unit = {
    val begin = member
    while (
      member < lastMember && collected.length < NearestProber.RowsAtOnce &&
      isMemberNeeded(sets.size(members(member)))
    ) {
      if (seen.add(members(member))) collected.add(members(member))
      member += 1
    }
    cancellation.count(member - begin)
  }

  /** Whether a row of this size without a token in common is needed. */
  private def isMemberNeeded(size: Int): Boolean =
    if (isAmongEmpty && size > 0) false
    else if (order.least > 0.0) false
    else if (order.nulls == NearestOrder.NoNulls && order.isNull(size, probe.size)) false
    else if (!isFull) true
    else if (isAmongEmpty) last != order.first
    // Where one of the larger sets has no rank, the smaller ones have none.
    else if (last == order.last) size == 0
    else order.isBefore(last, common = 0, build = 1, probe = 1)
}

private object NearestProber {

  /** After so many the join tells which it still needs. */
  private final val RowsAtOnce = 8
}
