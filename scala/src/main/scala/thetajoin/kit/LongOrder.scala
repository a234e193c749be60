package thetajoin.kit

/**
 * Sorts rows by keys of 64 bits, and searches in sorted keys. The keys stay where they are: the numbers of rows are
 * sorted, as an index gives them for the order of build rows. Sorting goes by one digit of the keys after another,
 * the least significant first, and leaves out digits that all keys share.
 */
object LongOrder {
  private val DigitBits = 11
  private val Digits = 1 << DigitBits

  /** The numbers of the first `rows` keys in ascending order of key; stable. */
  def ascending(keys: Array[Long], rows: Int): Array[Int] = {
    val identity = Array.range(0, rows)
    if (isSorted(keys, rows)) identity else radix(keys, identity, 0)
  }

  /**
   * The numbers of the first `rows` keys so that keys stand near their place in ascending order; the work is two
   * passes at most.
   */
  private[thetajoin] def nearlyAscending(keys: Array[Long], rows: Int): Array[Int] = {
    val identity = Array.range(0, rows)
    if (isSorted(keys, rows)) identity
    else {
      val high =
        java.lang.Long.SIZE - java.lang.Long.numberOfLeadingZeros(differingBits(keys, rows))
      radix(keys, identity, math.max(0, high - 2 * DigitBits))
    }
  }

  /** These row numbers in ascending order of their key. Rows of equal keys stay as they come. */
  def by(keys: Array[Long], rows: Array[Int]): Array[Int] = radix(keys, rows, 0)

  /** The keys of these rows. */
  def at(keys: Array[Long], rows: Array[Int]): Array[Long] =
    at(keys, rows, new Array[Long](rows.length))

  /** The keys of these rows, at the start of `target`, which is given back. */
  def at(keys: Array[Long], rows: Array[Int], target: Array[Long]): Array[Long] = {
    var i = 0
    while (i < rows.length) {
      target(i) = keys(rows(i))
      i += 1
    }
    target
  }

  /** The first position in `[from, until)` of a key that is at least this one; `until` if there is none. */
  def firstAtLeast(sorted: Array[Long], key: Long, from: Int, until: Int): Int = {
    var low = from
    var high = until
    while (low < high) {
      val middle = (low + high) >>> 1
      if (sorted(middle) < key) low = middle + 1 else high = middle
    }
    low
  }

  /** The next capacity of a growing array. */
  private[thetajoin] def grown(capacity: Int): Int =
    math.min(capacity.toLong * 2, Int.MaxValue - 16L).toInt

  private def isSorted(keys: Array[Long], rows: Int): Boolean = {
    var i = 1
    while (i < rows && keys(i - 1) <= keys(i)) i += 1
    i >= rows
  }

  /** By the bits from `lowest` on. */
  private def radix(keys: Array[Long], rows: Array[Int], lowest: Int): Array[Int] = {
    val varying = differingBits(keys, rows.length)
    var source = rows
    var target = new Array[Int](rows.length)
    var shift = lowest
    while (shift < 64) {
      if (((varying >>> shift) & (Digits - 1)) != 0) {
        scatter(keys, source, target, shift)
        val swap = source
        source = target
        target = swap
      }
      shift += DigitBits
    }
    source
  }

  private def differingBits(keys: Array[Long], rows: Int): Long = {
    var bits = 0L
    var i = 1
    while (i < rows) {
      bits |= keys(i) ^ keys(0)
      i += 1
    }
    bits
  }

  private def scatter(
      keys: Array[Long],
      source: Array[Int],
      target: Array[Int],
      shift: Int
  ): Unit = {
    val next = new Array[Int](Digits + 1)
    var i = 0
    while (i < source.length) {
      next(digit(keys(i), shift) + 1) += 1
      i += 1
    }
    i = 0
    while (i < Digits) {
      next(i + 1) += next(i)
      i += 1
    }
    i = 0
    while (i < source.length) {
      val d = digit(keys(source(i)), shift)
      target(next(d)) = source(i)
      next(d) += 1
      i += 1
    }
  }

  /** The sign bit is flipped, so that unsigned digits order signed keys. */
  private def digit(key: Long, shift: Int): Int =
    (((key ^ Long.MinValue) >>> shift) & (Digits - 1)).toInt
}
