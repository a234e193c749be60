package thetajoin.kit.keys

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{BinaryType, DataType, StringType}
import org.apache.spark.unsafe.Platform

/**
 * The bytes by which two keys are equal: the bytes of the value if the key is one string or binary, else the bytes of
 * the row.
 *
 * @param single whether a key is one string or binary
 */
final class KeyBytes private (single: Boolean) extends Serializable {

  /** Where in the row's base object they lie, as for `Platform`. */
  def offset(key: UnsafeRow): Long =
    if (single) key.getBaseOffset + (key.getLong(0) >>> 32) else key.getBaseOffset

  /** How many they are. */
  def size(key: UnsafeRow): Int = if (single) key.getLong(0).toInt else key.getSizeInBytes
}

object KeyBytes {

  /** For keys of these types. */
  def apply(types: Seq[DataType]): KeyBytes = new KeyBytes(isSingle(types))

  private def isSingle(types: Seq[DataType]): Boolean = types match {
    case Seq(_: StringType | BinaryType) => true
    case _ => false
  }

  /** A hash of bytes, a word at a time. */
  def hash(base: AnyRef, offset: Long, size: Int): Int = {
    var hash = size * Multiplier
    var at = 0
    while (at + 8 <= size) {
      hash = mix(hash, Platform.getLong(base, offset + at))
      at += 8
    }
    if (at < size) hash = mix(hash, rest(base, offset + at, size - at))
    folded(hash)
  }

  /** A hash of 32 bits out of one that was [[mix mixed]]. */
  def folded(hash: Long): Int = (hash ^ (hash >>> 32)).toInt

  /** A hash to which another word is added. */
  def mix(hash: Long, word: Long): Long = {
    val mixed = (hash ^ word) * Multiplier
    mixed ^ (mixed >>> 29)
  }

  /** The last bytes, fewer than eight. */
  private def rest(base: AnyRef, offset: Long, size: Int): Long = {
    var word = 0L
    var i = 0
    while (i < size) {
      word = (word << 8) | (Platform.getByte(base, offset + i) & 0xff)
      i += 1
    }
    word
  }

  private final val Multiplier = 0x9e3779b97f4a7c15L
}
