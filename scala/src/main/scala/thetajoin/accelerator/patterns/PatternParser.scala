package thetajoin.accelerator.patterns

import java.nio.charset.StandardCharsets.UTF_8

import thetajoin.kit.IntsBuilder

/**
 * A pattern of `LIKE` that has no errors.
 *
 * @param tokens a byte of UTF-8 as a number that is not negative, or one of the wildcards
 */
private[patterns] final class PatternParser private (tokens: Array[Int])
    extends CompiledPattern {
  import PatternParser._

  /**
   * Whether all of its characters take 16 bits in Java. Spark 4.0 quotes longer characters half by half in a regular
   * expression, which then may not match them.
   */
  val isPlain: Boolean = !tokens.exists(_ >= FirstOfFourBytes)

  def required: Required = {
    val strings = this.strings
    if (strings.isEmpty)
      if (tokens.nonEmpty && tokens.forall(_ == Many)) Required.Nothing else Required.Unknown
    else {
      val (from, until) = strings.maxBy { case (from, until) => until - from }
      val place =
        if (from == 0) Place.Start else if (until == tokens.length) Place.End else Place.Anywhere
      val isAll = isPlain && tokens.indices.forall { i =>
        i >= from && i < until || tokens(i) == Many
      } && !(from == 0 && until == tokens.length)
      Required(place, Seq(tokens.slice(from, until).map(_.toByte)), isAll)
    }
  }

  /** Where the strings between wildcards begin and end. */
  private def strings: Seq[(Int, Int)] = {
    val bounds = tokens.indices.filter(tokens(_) < 0) :+ tokens.length
    (-1 +: bounds).zip(bounds).map { case (before, until) => (before + 1, until) }
      .filter { case (from, until) => from < until }
  }

  /** If it [[isPlain]]. The part after the last wildcard for many characters is tried further on until it matches. */
  override def matches(text: Text): Boolean = {
    val bytes = text.bytes
    var at = 0
    var token = 0
    var again = -1
    var tried = 0
    var isOpen = true
    while (isOpen && (at < bytes.length || token < tokens.length))
      if (token < tokens.length && tokens(token) == Many) {
        token += 1
        again = token
        tried = at
      } else if (at < bytes.length && token < tokens.length && matchesAt(bytes, at, token)) {
        at = if (tokens(token) == One) afterCharacter(bytes, at) else at + 1
        token += 1
      } else if (again >= 0 && at < bytes.length) {
        tried = afterCharacter(bytes, tried)
        at = tried
        token = again
      } else isOpen = false
    isOpen
  }

  private def matchesAt(bytes: Array[Byte], at: Int, token: Int): Boolean =
    tokens(token) == One || tokens(token) == (bytes(at) & 0xff)

  private def afterCharacter(bytes: Array[Byte], at: Int): Int = {
    var next = at + 1
    while (next < bytes.length && (bytes(next) & 0xc0) == 0x80) next += 1
    next
  }
}

private[patterns] object PatternParser {
  private final val One = -1
  private final val Many = -2
  private final val FirstOfFourBytes = 0xf0

  /** None if it has an escape character before one that is no wildcard, or at its end. */
  def parse(pattern: String, escape: Char): Option[PatternParser] = {
    val tokens = new IntsBuilder
    var isValid = true
    var i = 0
    while (isValid && i < pattern.length) {
      val c = pattern.charAt(i)
      if (c == escape) {
        i += 1
        isValid = i < pattern.length && isSpecial(pattern.charAt(i), escape)
        if (isValid) i = add(pattern, i, tokens)
      } else if (c == '_' || c == '%') {
        tokens.add(if (c == '_') One else Many)
        i += 1
      } else i = add(pattern, i, tokens)
    }
    if (isValid) Some(new PatternParser(tokens.result())) else None
  }

  private def isSpecial(c: Char, escape: Char): Boolean = c == '_' || c == '%' || c == escape

  /** Adds a character, and returns where the next one is. */
  private def add(pattern: String, at: Int, tokens: IntsBuilder): Int = {
    val next = pattern.offsetByCodePoints(at, 1)
    pattern.substring(at, next).getBytes(UTF_8).foreach(byte => tokens.add(byte & 0xff))
    next
  }
}
