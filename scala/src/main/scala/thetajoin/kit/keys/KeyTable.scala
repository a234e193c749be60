package thetajoin.kit.keys

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

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

/** Numbers keys by their bytes, from 0 in order of arrival. [[KeyBytes]] says which bytes belong to a row's key. */
final class BytesNumbering {

  /** Null since a key came that is not short. */
  private var short = new ShortTableBuilder
  private var long: ByteTableBuilder = _

  /** How many keys there are. */
  def size: Int = if (short != null) short.size else long.size

  /** The bytes of the keys, without a table of them. */
  def bytes: Long = if (short != null) short.bytes else long.bytes

  /** About the most that it takes for them with its table, which has just grown, and a copy of them. */
  def allBytes: Long = 2 * bytes + BytesNumbering.TableBytesOfKey * size

  /** The number of a key, the next one if it is new. */
  def numberOf(base: AnyRef, offset: Long, size: Int): Int =
    if (short != null && ShortTable.isShort(size)) short.numberOf(base, offset, size)
    else {
      if (short != null) lengthen()
      long.numberOf(base, offset, size)
    }

  private def lengthen(): Unit = {
    long = short.lengthened()
    short = null
  }

  /** The table that finds the keys' numbers. */
  def table(): KeyTable = if (short != null) short.result() else long.result()

  /** The keys by number, which are rows of so many fields; the same row object each time. */
  def rows(fields: Int): Iterator[UnsafeRow] =
    if (short == null) long.rows(fields)
    else if (size == 0) Iterator.empty
    else throw new IllegalStateException("a key of so few bytes is not a row")
}

private object BytesNumbering {

  /** A table has two slots at least for each key. While it grows, the former one of half as many slots is held too. */
  val TableBytesOfKey: Long = 48L
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
