package thetajoin.accelerator.containment

import java.util.Arrays

import thetajoin.kit.LongOrder

/**
 * Sets whose tokens are numbered by how rare they are. The rarest token is 0.
 *
 * @param rankOf the number of each token of the vocabulary
 * @param frequency how many rows have the token of each number
 * @param sets the numbers of each row's tokens, in ascending order
 */
final class RareFirst(
    val finder: TokenFinder,
    val rankOf: Array[Int],
    val frequency: Array[Int],
    val sets: TokenSets
) extends Serializable {

  /** The rows of each number. Not every join reads them, so an executor makes them when they are first asked for. */
  @transient lazy val postings: Postings = sets.postings(rankOf.length)

  /** With the rows of each number. */
  def bytes: Long =
    finder.bytes + 4L * rankOf.length + 8L * frequency.length + sets.bytes + 4L * sets.tokens.length

  /** A signature of each row. */
  def signatures: Array[Long] = Array.tabulate(sets.rows)(row =>
    RareFirst.signature(sets.tokens, sets.starts(row), sets.starts(row + 1))
  )
}

private[containment] object RareFirst {

  /** The sets in this order. */
  def apply(finder: TokenFinder, arrived: TokenSets, order: Array[Int]): RareFirst = {
    val vocabulary = finder.vocabulary.size
    val frequency = new Array[Long](vocabulary)
    arrived.tokens.foreach(frequency(_) += 1)
    val byRank = LongOrder.ascending(frequency, vocabulary)
    val rankOf = new Array[Int](vocabulary)
    for (rank <- byRank.indices) rankOf(byRank(rank)) = rank
    new RareFirst(
      finder,
      rankOf,
      byRank.map(frequency(_).toInt),
      arrived.inOrder(order, rankOf).sorted
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
}

/** The set of a probe row. */
private[containment] final class ProbeSet(index: RareFirst) {
  private val (starts, tokens) = (index.sets.starts, index.sets.tokens)

  /** The tokens that build rows have, in ascending order. */
  var ranks = new Array[Int](16)

  /** How many they are, and how many tokens the set has at least. */
  var (known, size) = (0, 0)
  var signature = 0L

  def read(reader: TokenReader): Unit = {
    known = reader.size
    // More of them may be one token.
    size = known + (if (reader.hasOthers) 1 else 0)
    if (ranks.length < known) ranks = new Array[Int](2 * known)
    var i = 0
    while (i < known) {
      ranks(i) = index.rankOf(reader.token(i))
      i += 1
    }
    Arrays.sort(ranks, 0, known)
    signature = RareFirst.signature(ranks, 0, known)
  }

  /** How many rows have the probe row's tokens, each counted once for each of them. */
  def met: Long = {
    var rows = 0L
    var i = 0
    while (i < known) {
      rows += index.frequency(ranks(i))
      i += 1
    }
    rows
  }

  /** How many rows have one of the tokens from `[0, last)` in these postings, each counted once for each of them. */
  def met(postings: Postings, last: Int): Long = {
    var rows = 0L
    var i = 0
    while (i < last) {
      rows += postings.count(ranks(i))
      i += 1
    }
    rows
  }

  /** Whether a row has so many tokens in common, if the token `first` is the first of them. */
  def hasInCommon(row: Int, first: Int, least: Int): Boolean = {
    val end = starts(row + 1)
    var missing = least
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
