package thetajoin.accelerator.patterns

import java.util.regex.{Pattern, PatternSyntaxException}

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.{Literal, RLike}
import org.apache.spark.sql.catalyst.util.StringUtils
import org.apache.spark.unsafe.types.UTF8String

import thetajoin.condition.PairTest

/** The meaning of a join's patterns. */
private[patterns] sealed abstract class PatternForm extends Serializable {

  /** The strings that a text needs to match a pattern. */
  def required(pattern: UTF8String): Required

  /** How texts are tested that have the strings they need; none if Spark alone tells. */
  def test: Option[PairTest]

  /** How texts are read. */
  def reading: Reading

  /** Where its strings may be needed. */
  def places: Set[Place]

  /** Whether a pattern itself may say that it ignores case. */
  def mayIgnoreCase: Boolean = false
}

private[patterns] object PatternForm {

  /**
   * The pattern itself, at this place of the text.
   *
   * @param isInLowerCase whether letters are compared as the collation `UTF8_LCASE` has them
   */
  final case class OfString(place: Place, isInLowerCase: Boolean) extends PatternForm {
    override def test: Option[PairTest] =
      if (isInLowerCase) None
      else Some(StringTest(isAtStart = place == Place.Start, isAtEnd = place == Place.End))
    override def reading: Reading = if (isInLowerCase) Reading.LowerCase else Reading.Bytes
    override def places: Set[Place] = Set(place)
    override def required(pattern: UTF8String): Required =
      if (pattern.numBytes == 0) Required.Nothing
      else if (reading.tells(pattern)) Required(place, Seq(reading.of(pattern)), isAll = true)
      else Required.Unknown
  }

  sealed abstract class OfCharacters extends PatternForm {

    /** Whether letters are compared regardless of their case. */
    def isFolded: Boolean
    protected def ofCharacters: PairTest
    protected def required(pattern: String): Required

    final override def test: Option[PairTest] = if (isFolded) None else Some(ofCharacters)
    final override def reading: Reading = if (isFolded) Reading.Folded else Reading.Characters
    final override def required(pattern: UTF8String): Required = {
      val exact = required(pattern.toString)
      if (isFolded) exact.folded else exact
    }
  }

  /** The form of `LIKE`, with an escape character before characters that are no wildcards. */
  final case class OfLike(escape: Char, isFolded: Boolean) extends OfCharacters {
    override def places: Set[Place] = Set(Place.Anywhere, Place.Start, Place.End)
    override protected def ofCharacters: PairTest = LikeTest(escape)
    override protected def required(pattern: String): Required =
      PatternParser.parse(pattern, escape).fold(Required.Unknown)(_.required)
  }

  /** A regular expression of Java. */
  final case class OfRegex(isFolded: Boolean) extends OfCharacters {
    override def places: Set[Place] = Set(Place.Anywhere)
    override def mayIgnoreCase: Boolean = !isFolded
    override protected def ofCharacters: PairTest = RegexTest()
    override protected def required(regex: String): Required =
      // Each text meets one that can't be used.
      if (canBeUsed(regex)) RegexStrings.of(regex) else Required.Unknown

    private def canBeUsed(regex: String): Boolean =
      try {
        Pattern.compile(regex): Unit
        true
      } catch { case NonFatal(_) | _: StackOverflowError => false }
  }
}

/** Tests a text against a pattern, which is the right value. */
private[patterns] sealed abstract class TextTest extends PairTest {

  /** Made of a pattern, once. It raises the error that Spark raises. */
  protected def compiled(pattern: Array[Byte]): CompiledPattern

  final override def prepare(value: Array[Byte], isLeft: Boolean, isReused: Boolean): AnyRef =
    if (isLeft) new Text(value) else compiled(value)

  final override def holds(left: AnyRef, right: AnyRef): Boolean =
    right.asInstanceOf[CompiledPattern].matches(left.asInstanceOf[Text])
}

/** Whether a text has a string: anywhere if at neither end. */
private[patterns] final case class StringTest(isAtStart: Boolean, isAtEnd: Boolean)
    extends TextTest {
  override def cannotFail: Boolean = true

  override protected def compiled(pattern: Array[Byte]): CompiledPattern = {
    val string = UTF8String.fromBytes(pattern)
    text => {
      val whole = UTF8String.fromBytes(text.bytes)
      if (isAtStart) whole.startsWith(string)
      else if (isAtEnd) whole.endsWith(string)
      else whole.contains(string)
    }
  }
}

private[patterns] final case class LikeTest(escape: Char) extends TextTest {
  override def cannotFail: Boolean = false

  override protected def compiled(pattern: Array[Byte]): CompiledPattern = {
    val like = UTF8String.fromBytes(pattern).toString
    PatternParser.parse(like, escape).filter(_.isPlain).getOrElse {
      val regex = Pattern.compile(StringUtils.escapeLikeRegex(like, escape))
      text => regex.matcher(text.characters).matches()
    }
  }
}

private[patterns] final case class RegexTest() extends TextTest {
  override def cannotFail: Boolean = false

  override protected def compiled(pattern: Array[Byte]): CompiledPattern = {
    val regex = UTF8String.fromBytes(pattern).toString
    try {
      val compiled = Pattern.compile(regex)
      text => compiled.matcher(text.characters).find()
    } catch {
      case e: PatternSyntaxException =>
        RLike(Literal(""), Literal(regex)).eval()
        throw e
    }
  }
}
