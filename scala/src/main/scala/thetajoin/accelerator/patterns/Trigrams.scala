package thetajoin.accelerator.patterns

import org.apache.spark.sql.execution.thetabridge.Cancellation

/**
 * The rows whose texts have three bytes in a row, whatever these are. Bytes with equal hashes count as the same.
 *
 * @param starts by hash, the first place in `postings`; one more at the end
 * @param postings positions in ascending order
 */
private[patterns] final class Trigrams(
    private[patterns] val starts: Array[Int],
    private[patterns] val postings: Array[Int]
) extends Serializable {
  private val shift = Trigrams.shift(starts.length - 1)

  def bytes: Long = 4L * (starts.length + postings.length)

  /** The hash of the three bytes of a string that the fewest texts have. */
  def rarest(string: Array[Byte]): Int = {
    var rarest = -1
    var i = 0
    while (i + Trigrams.Size <= string.length) {
      val hash = Trigrams.hash(string, i, shift)
      if (rarest < 0 || count(hash) < count(rarest)) rarest = hash
      i += 1
    }
    rarest
  }

  private def count(hash: Int): Int = starts(hash + 1) - starts(hash)
}

private[patterns] object Trigrams {
  final val Size = 3

  /**
   * Of texts by position; null if they are too long for an array.
   *
   * @param cancellation counts their bytes
   */
  def of(texts: Array[Array[Byte]], cancellation: Cancellation): Trigrams = {
    val length = texts.foldLeft(0L)(_ + _.length)
    if (length > Int.MaxValue - 16L) null
    else {
      val hashes = Integer.highestOneBit(math.min(math.max(length, FewestHashes), MostHashes).toInt)
      val starts = new Array[Int](hashes + 1)
      each(texts, hashes, cancellation)((_, hash) => starts(hash + 1) += 1)
      for (hash <- 0 until hashes) starts(hash + 1) += starts(hash)
      val next = starts.clone()
      val postings = new Array[Int](starts(hashes))
      each(texts, hashes, cancellation) { (row, hash) =>
        postings(next(hash)) = row
        next(hash) += 1
      }
      new Trigrams(starts, postings)
    }
  }

  /** Once for each row and hash. */
  private def each(texts: Array[Array[Byte]], hashes: Int, cancellation: Cancellation)(
      use: (Int, Int) => Unit
  ): Unit = {
    val lastRow = new Array[Int](hashes)
    java.util.Arrays.fill(lastRow, -1)
    val shift = this.shift(hashes)
    var row = 0
    while (row < texts.length) {
      val text = texts(row)
      cancellation.count(text.length)
      var i = 0
      while (i + Size <= text.length) {
        val hash = this.hash(text, i, shift)
        if (lastRow(hash) != row) {
          lastRow(hash) = row
          use(row, hash)
        }
        i += 1
      }
      row += 1
    }
  }

  private def shift(hashes: Int): Int = Integer.numberOfLeadingZeros(hashes) + 1

  private def hash(text: Array[Byte], i: Int, shift: Int): Int = {
    val bytes = (text(i) & 0xff) << 16 | (text(i + 1) & 0xff) << 8 | (text(i + 2) & 0xff)
    (bytes * Golden) >>> shift
  }

  /** The bits of the golden ratio, which scatter neighbours (Knuth, volume 3, 6.4). */
  private final val Golden = 0x9e3779b1

  private final val FewestHashes = 1L << 8
  private final val MostHashes = 1L << 22
}
