package thetajoin.accelerator.containment

import java.util.Arrays

import thetajoin.contract.{JoinIndex, OrderedIndex, Prober}
import thetajoin.kit.{LongOrder, Stamps}

/**
 * Sets that are alike, by prefix filtering. Tokens are numbered by how rare they are. Two sets with `n` tokens in
 * common have one of them among the first `size - n + 1` tokens of each: the index has these tokens of build rows, and
 * a probe row asks for these tokens of its own. A row that is found has its tokens compared.
 *
 * Rows stand in order of size, so that rows of sizes that can't be alike are left out.
 *
 * @param rankOf the number of each token of the vocabulary
 * @param sets the numbers of each row's tokens, in ascending order
 * @param prefixes the rows that have a number among their first, in ascending order
 * @param signatures of these rows, next to each other in the order in which they are read
 * @param matchEmpty whether sets without tokens may be alike
 */
final class AlikeSets(
    val finder: TokenFinder,
    val measure: Measure,
    val rankOf: Array[Int],
    val sets: TokenSets,
    val prefixes: Postings,
    val signatures: Array[Long],
    val matchEmpty: Boolean
) extends JoinIndex {
  override def bytes: Long = finder.bytes + sets.bytes + prefixes.bytes +
    4L * rankOf.length + 8L * signatures.length

  override def newProber(): Prober = new AlikeProber(this)
}

private[containment] object AlikeSets {
  def apply(
      finder: TokenFinder,
      measure: Measure,
      arrived: TokenSets,
      matchEmpty: Boolean
  ): OrderedIndex = {
    val rankOf = ranks(arrived.tokens, finder.vocabulary.size)
    val order = LongOrder.ascending(
      Array.tabulate(arrived.rows)(row => arrived.size(row).toLong),
      arrived.rows
    )
    val sets = arrived.inOrder(order, rankOf).sorted
    val first = Array.tabulate(sets.rows) { row =>
      val size = sets.size(row)
      math.max(0, math.min(size, size - measure.leastOfBuild(size) + 1))
    }
    val prefixes = sets.prefixes(first).postings(rankOf.length)
    val ofRows = Array.tabulate(sets.rows)(row =>
      signature(sets.tokens, sets.starts(row), sets.starts(row + 1))
    )
    val signatures = LongOrder.at(ofRows, prefixes.rows)
    OrderedIndex(
      new AlikeSets(finder, measure, rankOf, sets, prefixes, signatures, matchEmpty),
      order
    )
  }

  /** A bit of 64 for each token. Each bit that another set lacks is a token that it lacks. */
  def signature(tokens: Array[Int], from: Int, until: Int): Long = {
    var bits = 0L
    var i = from
    while (i < until) {
      bits |= 1L << ((tokens(i) * 0x9e3779b9) >>> 26)
      i += 1
    }
    bits
  }

  /** The rarest token is 0. */
  private def ranks(tokens: Array[Int], vocabulary: Int): Array[Int] = {
    val frequency = new Array[Long](vocabulary)
    tokens.foreach(frequency(_) += 1)
    val rankOf = new Array[Int](vocabulary)
    var rank = 0
    LongOrder.ascending(frequency, vocabulary).foreach { token =>
      rankOf(token) = rank
      rank += 1
    }
    rankOf
  }
}

private final class AlikeProber(index: AlikeSets) extends OneListProber(index.finder) {
  private val (sets, measure) = (index.sets, index.measure)
  private val (starts, tokens) = (sets.starts, sets.tokens)
  private val (prefixes, signatures) = (index.prefixes, index.signatures)
  private val seen = new Stamps(sets.rows)
  private var ranks = new Array[Int](16)

  private var signature = 0L

  /** How many of the probe row's tokens, that build rows have, a row that is alike may lack. */
  private var mostMissing = 0

  /** How many tokens of the probe row build rows have, and how many it has at least. */
  private var (known, size) = (0, 0)

  override protected def found(): Boolean = {
    collected.clear()
    known = reader.size
    // More of them may be one token.
    size = known + (if (reader.hasOthers) 1 else 0)
    if (index.matchEmpty) addEmpty()
    readRanks()
    seen.restart()
    val (from, until) = (sets.firstOfSize(leastSize), sets.firstOfSize(mostSize + 1))
    mostMissing = known - measure.leastOfProbe(size)
    val last = math.min(known, mostMissing + 1)
    var i = 0
    while (i < last) {
      search(i, from, until)
      i += 1
    }
    giveCollected()
  }

  private def readRanks(): Unit = {
    if (ranks.length < known) ranks = new Array[Int](2 * known)
    var i = 0
    while (i < known) {
      ranks(i) = index.rankOf(reader.token(i))
      i += 1
    }
    Arrays.sort(ranks, 0, known)
    signature = AlikeSets.signature(ranks, 0, known)
  }

  /** Rows that need no token in common. */
  private def addEmpty(): Unit = {
    val last = if (size == 0) sets.rows else sets.firstOfSize(1)
    var row = 0
    while (row < last && measure.least(sets.size(row), size) <= 0) {
      collected.add(row)
      row += 1
    }
  }

  /** The fewest tokens of a row that has enough of them for this probe row. */
  private def leastSize: Int = {
    var (low, high) = (1, sets.mostSize + 1)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (measure.least(middle, size) <= middle) high = middle else low = middle + 1
    }
    low
  }

  /** The most tokens of a row that may have enough of them in common with this probe row. */
  private def mostSize: Int = {
    var (low, high) = (0, sets.mostSize)
    while (low < high) {
      val middle = (low + high + 1) >>> 1
      if (measure.least(middle, size) <= known) low = middle else high = middle - 1
    }
    low
  }

  /** The rows `[from, until)` that have the probe row's token `i` among their first. */
  private def search(i: Int, from: Int, until: Int): Unit = {
    val end = prefixes.starts(ranks(i) + 1)
    val at = Arrays.binarySearch(prefixes.rows, prefixes.starts(ranks(i)), end, from)
    val begin = if (at < 0) ~at else at
    var e = begin
    while (e < end && prefixes.rows(e) < until) {
      if (java.lang.Long.bitCount(signature & ~signatures(e)) <= mostMissing) {
        val row = prefixes.rows(e)
        // The first token that both have is found first.
        if (seen.add(row) && isAlike(row, i)) collected.add(row)
      }
      e += 1
    }
    cancellation.count(e - begin)
  }

  /** Whether enough tokens are in common, if the probe row's token `first` is the first of them. */
  private def isAlike(row: Int, first: Int): Boolean = {
    val end = starts(row + 1)
    var missing = measure.least(end - starts(row), size)
    var (i, j) = (first, starts(row))
    while (missing > 0 && known - i >= missing && end - j >= missing) {
      val difference = ranks(i) - tokens(j)
      if (difference == 0) missing -= 1
      if (difference <= 0) i += 1
      if (difference >= 0) j += 1
    }
    missing <= 0
  }
}
