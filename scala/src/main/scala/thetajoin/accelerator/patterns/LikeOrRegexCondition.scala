package thetajoin.accelerator.patterns

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.CollationFactory
import org.apache.spark.sql.types.{DataType, IntegerType, StringType}

import thetajoin.condition.{Operator, OrderedBy}
import thetajoin.reason.{Reason, ReasonCode}

/**
 * A conjunct that looks for a pattern in a text.
 *
 * @param isExact whether it holds for each text that matches the pattern by its form, if bytes are compared
 */
private[patterns] final case class LikeOrRegexCondition(
    source: Expression,
    text: Expression,
    pattern: Expression,
    form: PatternForm,
    isExact: Boolean = true
) {
  import LikeOrRegexCondition._

  /** Why strings of its types can't be looked for byte by byte, if so. */
  def refusal: Option[Reason] = Seq(text, pattern).map(_.dataType).collectFirst {
    case t if !isOf(t, StringType.collationId) && !isLowerCase =>
      ReasonCode.KeyCollation(s"${t.sql} in ${source.sql}")
  }

  /**
   * Whether the form decides. Texts that are equal in lower case have equal bytes, but a match may not begin or end
   * within a character.
   */
  def isDecided: Boolean = isExact && !isLowerCase

  private def isLowerCase: Boolean = Seq(text, pattern).forall(e => isInLowerCase(e.dataType))
}

private[patterns] object LikeOrRegexCondition {
  import PatternForm._

  def of(source: Expression): Option[LikeOrRegexCondition] = source match {
    case Like(text, pattern, escape) =>
      Some(LikeOrRegexCondition(
        source,
        text,
        pattern,
        OfLike(escape, isInLowerCase(text.dataType))
      ))
    case RLike(text, pattern) =>
      Some(LikeOrRegexCondition(source, text, pattern, OfRegex(isInLowerCase(text.dataType))))
    case Contains(text, string) => Some(ofString(source, text, string, Place.Anywhere))
    case StartsWith(text, string) => Some(ofString(source, text, string, Place.Start))
    case EndsWith(text, string) => Some(ofString(source, text, string, Place.End))
    case EqualTo(Prefix(text, string), other) if string.semanticEquals(other) =>
      Some(ofString(source, text, string, Place.Start, isExact = false))
    case EqualTo(other, Prefix(text, string)) if string.semanticEquals(other) =>
      Some(ofString(source, text, string, Place.Start, isExact = false))
    case Found(text, string) =>
      Some(ofString(source, text, string, Place.Anywhere, isExact = false))
    case _ => None
  }

  private def ofString(
      source: Expression,
      text: Expression,
      string: Expression,
      place: Place,
      isExact: Boolean = true
  ): LikeOrRegexCondition =
    LikeOrRegexCondition(
      source,
      text,
      string,
      OfString(place, isInLowerCase(text.dataType)),
      isExact
    )

  private def isInLowerCase(t: DataType): Boolean =
    isOf(t, CollationFactory.UTF8_LCASE_COLLATION_ID)

  private def isOf(t: DataType, collation: Int): Boolean = t match {
    case s: StringType => s.collationId == collation
    case _ => false
  }

  /** `left(text, length(string))` or the like. */
  private object Prefix {
    def unapply(e: Expression): Option[(Expression, Expression)] = e match {
      case Substring(text, Literal(0 | 1, IntegerType), Length(string)) => Some((text, string))
      case _ => None
    }
  }

  /**
   * That the place of a string in a text is one. Characters are counted, so that it isn't found where bytes are none.
   */
  private object Found {
    def unapply(e: Expression): Option[(Expression, Expression)] = e match {
      case Not(EqualTo(l, r)) => compared(l, r).collect { case (found, 0) => found }
      case EqualTo(l, r) => compared(l, r).collect { case (found, n) if n > 0 => found }
      case OrderedBy(l, operator, r @ Literal(_, IntegerType)) =>
        compared(l, r).collect { case (found, n) if isAbove(operator, n) => found }
      case OrderedBy(l, operator, r) =>
        compared(l, r).collect { case (found, n) if isAbove(operator.flipped, n) => found }
      case _ => None
    }

    /** A place and a number, in any order: the text and string of the place, and the number. */
    private def compared(l: Expression, r: Expression): Option[((Expression, Expression), Int)] =
      (l, r) match {
        case (Position(text, string), Literal(n: Int, IntegerType)) => Some((text, string) -> n)
        case (Literal(n: Int, IntegerType), Position(text, string)) => Some((text, string) -> n)
        case _ => None
      }

    /** Whether only numbers above zero compare so. */
    private def isAbove(operator: Operator, n: Int): Boolean = operator match {
      case Operator.Greater => n >= 0
      case Operator.GreaterOrEqual => n >= 1
      case _ => false
    }
  }

  /** The place of a string in a text; 0 without one. */
  private object Position {
    def unapply(e: Expression): Option[(Expression, Expression)] = e match {
      case StringInstr(text, string) => Some((text, string))
      case StringLocate(string, text, start) if start.references.isEmpty => Some((text, string))
      case _ => None
    }
  }
}
