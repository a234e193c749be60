package thetajoin.kit.keys

/** Multiplicative hashing into a table with open addressing whose capacity is a power of two. */
object LongHash {
  private final val Multiplier = 0x9e3779b97f4a7c15L
  private val MaxCapacity = 1 << 30

  /** For so many keys: at least half of the slots are free. */
  def capacity(keys: Int): Int =
    if (keys >= MaxCapacity / 2) MaxCapacity
    else math.max(16, Integer.highestOneBit(math.max(keys, 1) * 4 - 1))

  /** The shift of [[slot]] for a capacity. */
  def shift(capacity: Int): Int = java.lang.Long.SIZE - Integer.numberOfTrailingZeros(capacity)

  /** Where the search for a key starts. */
  def slot(key: Long, shift: Int): Int = ((key * Multiplier) >>> shift).toInt

  /** A number that is no key. */
  private[keys] def absent(isKey: Long => Boolean): Long = {
    var candidate = Multiplier
    while (isKey(candidate)) candidate += 1
    candidate
  }
}
