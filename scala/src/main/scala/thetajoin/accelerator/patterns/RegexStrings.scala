package thetajoin.accelerator.patterns

import java.lang.{StringBuilder => JStringBuilder}
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable
import scala.util.control.NoStackTrace

/**
 * Finds strings for a regular expression of Java: each text that matches has one of them. It only reads what it is
 * sure of, and gives up at anything else, such as quotes, references and looking around. If a part of the expression
 * ignores case, all strings do.
 */
private[patterns] object RegexStrings {

  def of(regex: String): Required =
    try {
      val read = new RegexStrings(regex)
      val strings = read.all.map(_.getBytes(UTF_8))
      Required(Place.Anywhere, strings, isAll = false, isFolded = read.ignoresCase)
    } catch { case GivenUp | _: StackOverflowError => Required.Unknown }

  private object GivenUp extends RuntimeException with NoStackTrace

  private final case class Repeats(isAtLeastOnce: Boolean, isOnce: Boolean)

  /** One for each of so many branches at most. */
  private val MostStrings = 64

  /** Escaped letters for one of several characters, or for a place between two. */
  private val OtherEscapes = "dDwWsShHvVRXbBAGzZ"

  /** Flags that do not change what a character stands for, but for its case. */
  private val Flags = "smdiu-"
  private val IgnoresCase = 'i'

  private val EscapedCharacters =
    Map('t' -> '\t', 'n' -> '\n', 'r' -> '\r', 'f' -> '\f', 'a' -> '\u0007', 'e' -> '\u001b')
}

private final class RegexStrings(regex: String) {
  import RegexStrings._

  private var at = 0

  /** Whether a flag of the expression says so, once it is read. */
  var ignoresCase = false

  /** None of them empty; empty itself if there are none, or it isn't known. */
  def all: Seq[String] = {
    val strings = branches()
    if (at < regex.length) giveUp()
    strings
  }

  private def giveUp(): Nothing = throw GivenUp

  private def isAt(c: Char): Boolean = at < regex.length && regex.charAt(at) == c

  private def take(c: Char): Boolean = {
    val is = isAt(c)
    if (is) at += 1
    is
  }

  /** The needs of several branches together: a string for each, if each has one. */
  private def branches(): Seq[String] = {
    val strings = mutable.LinkedHashSet.empty[String]
    var isKnown = true
    var isOpen = true
    while (isOpen) {
      val ofBranch = branch()
      strings ++= ofBranch
      isKnown &&= ofBranch.nonEmpty && strings.size <= MostStrings
      if (!isKnown) strings.clear()
      isOpen = take('|')
    }
    strings.toSeq
  }

  /** The best of the needs of all atoms of a branch. */
  private def branch(): Seq[String] = {
    var best = Seq.empty[String]
    val run = new JStringBuilder
    def offer(strings: Seq[String]): Unit =
      if (strings.nonEmpty && (best.isEmpty || isBetter(strings, best))) best = strings
    def end(): Unit = {
      if (run.length > 0) offer(Seq(run.toString))
      run.setLength(0)
    }
    while (at < regex.length && !isAt('|') && !isAt(')'))
      if (take('(')) {
        end()
        val inner = group()
        if (repeats().isAtLeastOnce) offer(inner)
      } else
        character() match {
          case Some(c) =>
            val times = repeats()
            if (times.isAtLeastOnce) run.appendCodePoint(c)
            if (!times.isOnce) end()
          case None =>
            end()
            repeats(): Unit
        }
    end()
    best
  }

  private def isBetter(strings: Seq[String], others: Seq[String]): Boolean =
    strings.map(_.length).min > others.map(_.length).min

  /** After the parenthesis. */
  private def group(): Seq[String] = {
    if (take('?')) {
      if (take('<')) {
        // The name of a group begins with a letter; looking behind doesn't.
        if (at >= regex.length || !Character.isLetter(regex.charAt(at))) giveUp()
        skipUntil('>')
      } else {
        while (at < regex.length && Flags.indexOf(regex.charAt(at).toInt) >= 0) {
          ignoresCase ||= isAt(IgnoresCase)
          at += 1
        }
        if (isAt(')')) {
          at += 1
          return Nil
        }
        if (!take(':')) giveUp()
      }
    }
    val strings = branches()
    if (!take(')')) giveUp()
    strings
  }

  private def skipUntil(c: Char): Unit = {
    while (at < regex.length && !isAt(c)) at += 1
    if (!take(c)) giveUp()
  }

  /** Reads the text of one character, or of a place: gives the character if it is only one. */
  private def character(): Option[Int] = {
    val c = regex.codePointAt(at)
    at += Character.charCount(c)
    c match {
      case '.' | '^' | '$' => None
      case '[' =>
        skipClass()
        None
      case '\\' => escaped()
      case '*' | '+' | '?' | '{' => giveUp()
      case _ => Some(c)
    }
  }

  private def escaped(): Option[Int] = {
    if (at >= regex.length) giveUp()
    val c = regex.charAt(at)
    at += 1
    if (OtherEscapes.indexOf(c.toInt) >= 0) None
    else if (EscapedCharacters.contains(c)) Some(EscapedCharacters(c).toInt)
    else if (c < 128 && !Character.isLetterOrDigit(c)) Some(c.toInt)
    else giveUp()
  }

  /** After the bracket. Other brackets within are not read. */
  private def skipClass(): Unit = {
    take('^'): Unit
    if (isAt(']')) giveUp()
    while (!isAt(']')) {
      if (at >= regex.length || isAt('[')) giveUp()
      if (take('\\')) escaped(): Unit else at += 1
    }
    at += 1
  }

  /** How often the element before is repeated. */
  private def repeats(): Repeats = {
    val repeats =
      if (take('*') || take('?')) Repeats(isAtLeastOnce = false, isOnce = false)
      else if (take('+')) Repeats(isAtLeastOnce = true, isOnce = false)
      else if (take('{')) counted()
      else return Repeats(isAtLeastOnce = true, isOnce = true)
    // Reluctant or possessive.
    if (!take('?')) take('+'): Unit
    repeats
  }

  private def counted(): Repeats = {
    val from = at
    while (at < regex.length && regex.charAt(at) >= '0' && regex.charAt(at) <= '9') at += 1
    if (at == from || at - from > 9) giveUp()
    val least = regex.substring(from, at).toInt
    skipUntil('}')
    Repeats(isAtLeastOnce = least > 0, isOnce = false)
  }
}
