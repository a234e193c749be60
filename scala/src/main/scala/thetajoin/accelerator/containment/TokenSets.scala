package thetajoin.accelerator.containment

import thetajoin.kit.IntsBuilder

/** The tokens of build rows. Row r has `tokens(starts(r))` up to `tokens(starts(r + 1) - 1)`, each once. */
final class TokenSets(val starts: Array[Int], val tokens: Array[Int]) extends Serializable {
  def bytes: Long = 4L * (starts.length + tokens.length)
  def rows: Int = starts.length - 1
  def size(row: Int): Int = starts(row + 1) - starts(row)

  /** The rows in this order, with other numbers for their tokens. */
  def inOrder(order: Array[Int], numberOf: Array[Int]): TokenSets = {
    val (moved, all) = (new Array[Int](rows + 1), new Array[Int](tokens.length))
    var row = 0
    while (row < rows) {
      val (from, size) = (starts(order(row)), this.size(order(row)))
      var i = 0
      while (i < size) {
        all(moved(row) + i) = numberOf(tokens(from + i))
        i += 1
      }
      moved(row + 1) = moved(row) + size
      row += 1
    }
    new TokenSets(moved, all)
  }

  /** The first tokens of each row. */
  def prefixes(lengths: Array[Int]): TokenSets = {
    val ends = new Array[Int](rows + 1)
    val first = new IntsBuilder
    var row = 0
    while (row < rows) {
      var i = 0
      while (i < lengths(row)) {
        first.add(tokens(starts(row) + i))
        i += 1
      }
      row += 1
      ends(row) = first.length
    }
    new TokenSets(ends, first.result())
  }

  /** Of rows in order of size, from some row on: the size of the last, and the first that has so many tokens. */
  def mostSize: Int = if (rows == 0) 0 else size(rows - 1)

  def firstOfSize(least: Int, from: Int): Int = {
    var (low, high) = (from, rows)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (size(middle) < least) low = middle + 1 else high = middle
    }
    low
  }

  /** The same with the tokens of each row in ascending order. */
  def sorted: TokenSets = {
    val inOrder = tokens.clone()
    var row = 0
    while (row < rows) {
      java.util.Arrays.sort(inOrder, starts(row), starts(row + 1))
      row += 1
    }
    new TokenSets(starts, inOrder)
  }

  /** The rows of each of so many tokens. */
  def postings(vocabulary: Int): Postings = {
    val of = new Array[Int](vocabulary + 1)
    tokens.foreach(token => if (token >= 0) of(token + 1) += 1)
    val ends = running(of)
    val rowsOf = new Array[Int](of(vocabulary))
    var row = 0
    while (row < rows) {
      var i = starts(row)
      while (i < starts(row + 1)) {
        if (tokens(i) >= 0) {
          rowsOf(ends(tokens(i))) = row
          ends(tokens(i)) += 1
        }
        i += 1
      }
      row += 1
    }
    new Postings(of, rowsOf)
  }

  /** Each row at the one of its tokens that the fewest rows have; rows without tokens at the token `vocabulary`. */
  def rarest(vocabulary: Int): Postings = {
    val frequency = new Array[Int](vocabulary)
    tokens.foreach(token => if (token >= 0) frequency(token) += 1)
    val chosen = Array.tabulate(rows) { row =>
      if (starts(row) == starts(row + 1)) vocabulary
      else {
        var best = tokens(starts(row))
        var i = starts(row) + 1
        while (i < starts(row + 1)) {
          if (frequency(tokens(i)) < frequency(best)) best = tokens(i)
          i += 1
        }
        best
      }
    }
    new TokenSets(Array.range(0, rows + 1), chosen).postings(vocabulary + 1)
  }

  /** Makes of counts, each a place later, where each starts; gives a copy. */
  private def running(counts: Array[Int]): Array[Int] = {
    var i = 1
    while (i < counts.length) {
      counts(i) += counts(i - 1)
      i += 1
    }
    counts.clone()
  }
}

private[containment] object TokenSets {

  /** The only token of a row that never matches. */
  val Unmatchable: Int = -1
}

/** The rows of each token, in ascending order. Token t has `rows(starts(t))` up to `rows(starts(t + 1) - 1)`. */
final class Postings(val starts: Array[Int], val rows: Array[Int]) extends Serializable {
  def bytes: Long = 4L * (starts.length + rows.length)
  def count(token: Int): Int = starts(token + 1) - starts(token)

  /** The first row of each token. */
  def firsts: Postings =
    new Postings(Array.range(0, starts.length), starts.init.map(rows(_)))
}
