package thetajoin.accelerator.patterns

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.util.CollationFactory
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/**
 * How a text is read in which strings are looked for.
 *
 * @param areCharacters whether bytes that are no characters are replaced
 * @param isFolded whether letters are compared regardless of their case, as by [[Folding]]
 * @param isInLowerCase the same, as by the collation `UTF8_LCASE`
 */
private[patterns] final case class Reading(
    areCharacters: Boolean,
    isFolded: Boolean = false,
    isInLowerCase: Boolean = false
) {

  /**
   * Whether the bytes that are read of a text tell which strings it has. In lower case they don't if bytes are no
   * characters: Spark compares such bytes by numbers that characters may have as well.
   */
  def tells(text: UTF8String): Boolean = !isInLowerCase || text.isValid

  /** The bytes that are read of a text. */
  def of(text: UTF8String): Array[Byte] = {
    val read = of(text.getBaseObject, text.getBaseOffset, text.numBytes)
    if (read == null) text.getBytes else read
  }

  /** The same of a text that lies at an offset of an object as for `Platform`; null if these are its own. */
  def of(base: AnyRef, offset: Long, size: Int): Array[Byte] =
    if (isFolded) Folding.of(UTF8String.fromAddress(base, offset, size).getBytes)
    else if (isInLowerCase)
      CollationFactory.getCollationKeyBytes(
        UTF8String.fromAddress(base, offset, size),
        CollationFactory.UTF8_LCASE_COLLATION_ID
      )
    else if (!areCharacters || isAscii(base, offset, size)) null
    else {
      val text = UTF8String.fromAddress(base, offset, size)
      if (text.isValid) null else text.toString.getBytes(UTF_8)
    }

  private def isAscii(base: AnyRef, offset: Long, size: Int): Boolean = {
    var bits = 0L
    var i = 0
    while (i + 8 <= size) {
      bits |= Platform.getLong(base, offset + i)
      i += 8
    }
    while (i < size) {
      bits |= Platform.getByte(base, offset + i).toLong << 56 | Platform.getByte(base, offset + i)
      i += 1
    }
    (bits & 0x8080808080808080L) == 0L
  }
}

private[patterns] object Reading {
  val Bytes: Reading = Reading(areCharacters = false)
  val LowerCase: Reading = Reading(areCharacters = false, isInLowerCase = true)
  val Characters: Reading = Reading(areCharacters = true)
  val Folded: Reading = Reading(areCharacters = true, isFolded = true)
}

/**
 * Characters that a regular expression of Java takes for the same in any case (`CASE_INSENSITIVE`, `UNICODE_CASE`)
 * are one here.
 */
private[patterns] object Folding {

  /** Of UTF-8; bytes that are no characters are replaced. */
  def of(text: Array[Byte]): Array[Byte] = {
    val folded = new Array[Byte](text.length)
    var i = 0
    while (i < text.length && text(i) >= 0) {
      val b = text(i)
      folded(i) = if (b >= 'A' && b <= 'Z') (b + ('a' - 'A')).toByte else b
      i += 1
    }
    if (i == text.length) folded
    else {
      val characters = new java.lang.StringBuilder(text.length)
      UTF8String.fromBytes(text).toString.codePoints
        .forEach(c => characters.appendCodePoint(of(c)): Unit)
      characters.toString.getBytes(UTF_8)
    }
  }

  def of(character: Int): Int = Character.toLowerCase(Character.toUpperCase(character))
}
