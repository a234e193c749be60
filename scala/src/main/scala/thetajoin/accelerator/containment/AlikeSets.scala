package thetajoin.accelerator.containment

import java.util.Arrays

import thetajoin.contract.{JoinIndex, OrderedIndex, Prober}
import thetajoin.kit.{IntsBuilder, LongOrder, Stamps}

/**
 * Sets that are alike, by prefix filtering. Two sets with `n` tokens in common have one of them among the first
 * `size - n + 1` tokens of each: the index has these tokens of build rows, and a probe row asks for these tokens of its
 * own. A row that is found has its tokens compared.
 *
 * Rows stand in order of size, so that rows of sizes that can't be alike are left out. Rows that are alike to all sets
 * stand ahead of them.
 *
 * @param parts by which each row must be alike
 * @param prefixes the rows that have a token among their first, in ascending order
 * @param signatures of these rows, next to each other in the order in which they are read
 * @param matchEmpty whether sets without tokens may be alike
 */
final class AlikeSets(
    val rows: RareFirst,
    val measure: Measure,
    val parts: Parts,
    val prefixes: Postings,
    val signatures: Array[Long],
    val matchEmpty: Boolean
) extends JoinIndex {
  override def bytes: Long = rows.bytes + parts.bytes + prefixes.bytes + 8L * signatures.length

  override def newProber(): Prober = new AlikeProber(this)
}

private[containment] object AlikeSets {

  /** @param parts of the rows as they arrived */
  def apply(
      finder: TokenFinder,
      arrived: TokenSets,
      measure: Measure,
      parts: Parts,
      matchEmpty: Boolean
  ): OrderedIndex = {
    val order = LongOrder.ascending(
      Array.tabulate(arrived.rows)(r => if (parts.of(r) > 0.0) arrived.size(r).toLong else -1L),
      arrived.rows
    )
    val rows = RareFirst(finder, arrived, order)
    val (sets, partsOf) = (rows.sets, parts.inOrder(order))
    val first = Array.tabulate(sets.rows) { row =>
      val (part, size) = (partsOf.of(row), sets.size(row))
      if (part > 0.0) math.max(0, math.min(size, size - measure.leastOfBuild(part, size) + 1))
      else 0
    }
    val prefixes = sets.prefixes(first).postings(rows.rankOf.length)
    val signatures = LongOrder.at(rows.signatures, prefixes.rows)
    OrderedIndex(
      new AlikeSets(rows, measure, partsOf, prefixes, signatures, matchEmpty),
      order
    )
  }
}

private final class AlikeProber(index: AlikeSets) extends OneListProber(index.rows.finder) {
  private val sets = index.rows.sets
  private val (measure, parts) = (index.measure, index.parts)
  private val (prefixes, signatures) = (index.prefixes, index.signatures)
  private val probe = new ProbeSet(index.rows)
  private val seen = new Stamps(sets.rows)
  private lazy val counts = new Array[Int](sets.rows)
  private lazy val postings = index.rows.postings

  /** The rows that are counted, and the rows among them with as many tokens in common as any row needs. */
  private val counted, enough = new IntsBuilder

  /** How many of the probe row's tokens, that build rows have, a row that is alike may lack. */
  private var mostMissing = 0

  override protected def found(): Boolean = {
    collected.clear()
    var row = 0
    while (row < parts.always) {
      collected.add(row)
      row += 1
    }
    probe.read(reader)
    if (index.matchEmpty) addEmpty()
    mostMissing = probe.known - measure.leastOfProbe(parts.least, probe.size)
    val last = math.min(probe.known, mostMissing + 1)
    if (last > 0) {
      // To compare a row takes as long as to count it so often, or longer if it has more tokens than the probe row.
      val comparedAsCounted = 0.5 * probe.known
      if (probe.met <= comparedAsCounted * probe.met(prefixes, last)) count()
      else compare(last)
    }
    giveCollected()
  }

  private def least(row: Int): Int = measure.least(parts.of(row), sets.size(row), probe.size)

  /** Rows that need no token in common. */
  private def addEmpty(): Unit = {
    val last = if (probe.size == 0) sets.rows else firstOfSize(1)
    var row = parts.always
    while (row < last && measure.least(parts.least, sets.size(row), probe.size) <= 0) {
      if (least(row) <= 0) collected.add(row)
      row += 1
    }
  }

  private def firstOfSize(size: Int): Int = sets.firstOfSize(size, parts.always)

  /** Rows that have a token among their first and among the probe row's first. */
  private def compare(last: Int): Unit = {
    seen.restart()
    val (from, until) = (firstOfSize(leastSize), firstOfSize(mostSize + 1))
    var i = 0
    while (i < last) {
      search(i, from, until)
      i += 1
    }
  }

  /** The fewest tokens of a row that has enough of them for this probe row. */
  private def leastSize: Int = {
    var (low, high) = (1, sets.mostSize + 1)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (measure.least(parts.least, middle, probe.size) <= middle) high = middle
      else low = middle + 1
    }
    low
  }

  /** The most tokens of a row that may have enough of them in common with this probe row. */
  private def mostSize: Int = {
    var (low, high) = (0, sets.mostSize)
    while (low < high) {
      val middle = (low + high + 1) >>> 1
      if (measure.least(parts.least, middle, probe.size) <= probe.known) low = middle
      else high = middle - 1
    }
    low
  }

  /** The rows `[from, until)` that have the probe row's token `i` among their first. */
  private def search(i: Int, from: Int, until: Int): Unit = {
    val token = probe.ranks(i)
    val end = prefixes.starts(token + 1)
    val at = Arrays.binarySearch(prefixes.rows, prefixes.starts(token), end, from)
    val begin = if (at < 0) ~at else at
    var e = begin
    while (e < end && prefixes.rows(e) < until) {
      if (java.lang.Long.bitCount(probe.signature & ~signatures(e)) <= mostMissing) {
        val row = prefixes.rows(e)
        // The first token that both have is found first.
        if (seen.add(row) && probe.hasInCommon(row, i, least(row))) collected.add(row)
      }
      e += 1
    }
    cancellation.count(e - begin)
  }

  /** Rows that have enough tokens in common, by a count for each row that has one. */
  private def count(): Unit = {
    counted.clear()
    enough.clear()
    val fewest = math.max(1, probe.known - mostMissing)
    var i = 0
    while (i < probe.known) {
      count(probe.ranks(i), fewest)
      i += 1
    }
    i = 0
    while (i < enough.length) {
      val row = enough.array(i)
      if (row >= parts.always && counts(row) >= least(row)) collected.add(row)
      i += 1
    }
    i = 0
    while (i < counted.length) {
      counts(counted.array(i)) = 0
      i += 1
    }
  }

  private def count(token: Int, fewest: Int): Unit = {
    val (rows, counts) = (postings.rows, this.counts)
    val end = postings.starts(token + 1)
    var i = postings.starts(token)
    cancellation.count(end - i)
    while (i < end) {
      val row = rows(i)
      val count = counts(row) + 1
      counts(row) = count
      if (count == 1) counted.add(row)
      if (count == fewest) enough.add(row)
      i += 1
    }
  }
}
