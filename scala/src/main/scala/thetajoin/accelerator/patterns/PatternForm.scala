package thetajoin.accelerator.patterns

import java.util.regex.{Pattern, PatternSyntaxException}

import org.apache.spark.sql.catalyst.expressions.{Expression, Like, Literal, RLike}
import org.apache.spark.sql.catalyst.util.StringUtils
import org.apache.spark.unsafe.types.UTF8String

import thetajoin.condition.PairTest

/** What the patterns of a join mean. */
private[patterns] sealed abstract class PatternForm extends Serializable {

  /** What a text needs to match a pattern. */
  def required(pattern: UTF8String): Required

  /** How texts are tested that have what they need. */
  def test: PairTest

  /** Whether Spark reads texts and patterns as characters, not as bytes. */
  def areCharacters: Boolean = true
}

private[patterns] object PatternForm {

  /** The pattern itself, somewhere in the text. */
  case object Anywhere extends OfString(Place.Anywhere)
  case object AtStart extends OfString(Place.Start)
  case object AtEnd extends OfString(Place.End)

  sealed abstract class OfString(place: Place) extends PatternForm {
    override def test: PairTest =
      StringTest(isAtStart = place == Place.Start, isAtEnd = place == Place.End)
    override def areCharacters: Boolean = false
    override def required(pattern: UTF8String): Required =
      if (pattern.numBytes == 0) Required.Nothing
      else Required(place, Seq(pattern.getBytes), isAll = true)
  }

  /** That of `LIKE`, with a character before those that are no wildcards. */
  final case class OfLike(escape: Char) extends PatternForm {
    override def test: PairTest = LikeTest(escape)
    override def required(pattern: UTF8String): Required =
      LikePattern.parse(pattern.toString, escape).fold(Required.Unknown)(_.required)
  }

  /** A regular expression of Java. */
  case object OfRegex extends PatternForm {
    override def test: PairTest = RegexTest()
    override def required(pattern: UTF8String): Required =
      Required(Place.Anywhere, RegexStrings.of(pattern.toString), isAll = false)
  }
}

/** Whether a text has a string, which is the right value: anywhere if at neither end. */
private[patterns] final case class StringTest(isAtStart: Boolean, isAtEnd: Boolean)
    extends PairTest {
  override def cannotFail: Boolean = true

  override def prepare(value: Array[Byte], isReused: Boolean): AnyRef =
    UTF8String.fromBytes(value)

  override def holds(left: AnyRef, right: AnyRef): Boolean = {
    val text = left.asInstanceOf[UTF8String]
    val string = right.asInstanceOf[UTF8String]
    if (isAtStart) text.startsWith(string)
    else if (isAtEnd) text.endsWith(string)
    else text.contains(string)
  }
}

/** Tests a text against a pattern, which is the right value. A pattern that can't be used raises the error that Spark raises. */
private[patterns] sealed abstract class TextTest extends PairTest {

  /** Made of a pattern, for all tasks. */
  protected def compiled(pattern: String): CompiledPattern

  /** The condition that Spark tests. */
  protected def condition(text: Expression, pattern: Expression): Expression

  final override def cannotFail: Boolean = false

  final override def prepare(value: Array[Byte], isReused: Boolean): AnyRef =
    if (isReused) compile(UTF8String.fromBytes(value).toString) else new Text(value)

  final override def holds(left: AnyRef, right: AnyRef): Boolean =
    right.asInstanceOf[CompiledPattern].matches(left.asInstanceOf[Text])

  private def compile(pattern: String): CompiledPattern =
    try compiled(pattern)
    catch {
      case e: PatternSyntaxException =>
        condition(Literal(""), Literal(pattern)).eval()
        throw e
    }
}

private[patterns] final case class LikeTest(escape: Char) extends TextTest {
  override protected def compiled(pattern: String): CompiledPattern =
    LikePattern.parse(pattern, escape).filter(_.isPlain).getOrElse(
      new CompiledRegex(StringUtils.escapeLikeRegex(pattern, escape), isWhole = true)
    )

  override protected def condition(text: Expression, pattern: Expression): Expression =
    Like(text, pattern, escape)
}

private[patterns] final case class RegexTest() extends TextTest {
  override protected def compiled(pattern: String): CompiledPattern =
    new CompiledRegex(pattern, isWhole = false)

  override protected def condition(text: Expression, pattern: Expression): Expression =
    RLike(text, pattern)
}

/** A pattern that can be used, shared by tasks. */
private[patterns] abstract class CompiledPattern {
  def matches(text: Text): Boolean
}

/** @param isWhole whether it has to match the whole text, not a part of it */
private final class CompiledRegex(regex: String, isWhole: Boolean) extends CompiledPattern {
  private val pattern = Pattern.compile(regex)

  override def matches(text: Text): Boolean = {
    val matcher = pattern.matcher(text.characters)
    if (isWhole) matcher.matches() else matcher.find()
  }
}

/** @param bytes valid UTF-8 */
private[patterns] final class Text(val bytes: Array[Byte]) {
  private var string: String = _

  def characters: String = {
    if (string == null) string = UTF8String.fromBytes(bytes).toString
    string
  }
}
