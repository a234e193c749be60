package thetajoin.accelerator.containment

/** The tokens of build rows. Row r has `tokens(starts(r))` up to `tokens(starts(r + 1) - 1)`, each once. */
final class TokenSets(val starts: Array[Int], val tokens: Array[Int]) extends Serializable {
  def bytes: Long = 4L * (starts.length + tokens.length)
  def rows: Int = starts.length - 1

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
