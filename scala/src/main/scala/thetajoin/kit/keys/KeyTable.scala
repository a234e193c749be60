package thetajoin.kit.keys

/**
 * Finds keys by their bytes: `size` bytes that lie at `offset` of `base`, as for `Platform`. Keys are numbered from
 * 0.
 */
abstract class KeyTable private[keys] extends Serializable {
  def bytes: Long

  /** The number of a key, -1 if it is not here. */
  def find(base: AnyRef, offset: Long, size: Int): Int

  def contains(base: AnyRef, offset: Long, size: Int): Boolean
}

/**
 * Turns away most keys that are not in a table by one bit, out of so few that they stay in the cache for longer than
 * the table does. Keys are known by their hashes.
 */
final class KeyFilter private (words: Array[Long]) extends Serializable {
  private val shift = LongHash.shift(words.length * java.lang.Long.SIZE)

  def bytes: Long = 8L * words.length

  def add(hash: Long): Unit = {
    val bit = LongHash.slot(hash, shift)
    words(bit >>> 6) |= 1L << bit
  }

  /** False if no key with this hash was added. */
  def mayContain(hash: Long): Boolean = {
    val bit = LongHash.slot(hash, shift)
    ((words(bit >>> 6) >>> bit) & 1L) != 0L
  }
}

object KeyFilter {

  /** For a number of keys: at most one bit of eight is set, unless they are more than a table of this kind holds. */
  def of(keys: Int): KeyFilter =
    new KeyFilter(new Array[Long](math.min(
      LongHash.capacity(keys) / (java.lang.Long.SIZE / 4),
      MaxWords
    )))

  /** As many bits as an index of 31 bits reaches. */
  private val MaxWords = 1 << 24
}
