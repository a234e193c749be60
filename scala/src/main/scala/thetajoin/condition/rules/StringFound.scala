package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.StringType

import thetajoin.condition.NumberForms

object StringFound extends FormRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "right(a.text, length(b.name)) = b.name",
      "endswith(a.text, b.name)"
    ),
    Reading(
      "substring(a.text, 1, length(b.name)) = b.name",
      "startswith(a.text, b.name)"
    ),
    Reading(
      "length(replace(a.text, b.name, '')) < length(a.text)",
      "contains(a.text, b.name)"
    ),
    Reading(
      "(length(a.text) - length(replace(a.text, b.name, ''))) / length(b.name) >= 1",
      "contains(a.text, b.name)"
    ),
    Reading(
      "replace(a.text, b.name, '') <> a.text",
      "contains(a.text, b.name)"
    ),
    Reading(
      "substring_index(a.text, b.name, 1) <> a.text",
      "contains(a.text, b.name)"
    )
  )
  override val proof: String =
    "The first and the last characters of a text are its ends, and a string that is not found changes nothing."

  override def implied(condition: Expression): Option[Expression] = condition match {
    case EqualTo(LastCharacters(text), string) => of(text, string)(EndsWith(_, _))
    case EqualTo(string, LastCharacters(text)) => of(text, string)(EndsWith(_, _))
    case EqualTo(FirstCharacters(text), string) => of(text, string)(StartsWith(_, _))
    case EqualTo(string, FirstCharacters(text)) => of(text, string)(StartsWith(_, _))
    case Not(EqualTo(l, r)) =>
      Seq(l -> r, r -> l).collectFirst { case (Changed(text, string), other) =>
        if (other.semanticEquals(text)) of(text, string)(Contains(_, _)) else None
      }.flatten
    case EqualTo(SubstringIndex(text, _, _), string) => of(text, string)(Contains(_, _))
    case EqualTo(string, SubstringIndex(text, _, _)) => of(text, string)(Contains(_, _))
    case GreaterThanOrEqual(Removed(text, string), Positive()) => of(text, string)(Contains(_, _))
    case GreaterThan(Removed(text, string), Positive()) => of(text, string)(Contains(_, _))
    case LessThanOrEqual(Positive(), Removed(text, string)) => of(text, string)(Contains(_, _))
    case LessThan(Positive(), Removed(text, string)) => of(text, string)(Contains(_, _))
    case LessThan(Length(StringReplace(text, string, _)), Length(whole))
        if text.semanticEquals(whole) =>
      of(text, string)(Contains(_, _))
    case GreaterThan(Length(whole), Length(StringReplace(text, string, _)))
        if text.semanticEquals(whole) =>
      of(text, string)(Contains(_, _))
    case _ => None
  }

  /** A text in which a string is replaced, or that ends before it. The part before no string at all is empty. */
  private object Changed {
    def unapply(e: Expression): Option[(Expression, Expression)] = e match {
      case StringReplace(text, string, _) => Some((text, string))
      case SubstringIndex(text, string, Literal(n: Int, _)) if n != 0 => Some((text, string))
      case _ => None
    }
  }

  /** By how many characters a text is shorter without a string, or a part of them. */
  private object Removed {
    def unapply(e: Expression): Option[(Expression, Expression)] = e match {
      case Subtract(Length(whole), Length(StringReplace(text, string, _)), _)
          if text.semanticEquals(whole) =>
        Some((text, string))
      case Divide(value, divisor, _) if isNumber(divisor) => unapply(value)
      case IntegralDivide(value, _, _) => unapply(value)
      case c: Cast => unapply(c.child)
      case _ => None
    }
  }

  /** A quotient by NaN is the greatest value. */
  private def isNumber(divisor: Expression): Boolean =
    NumberForms.Constant.unapply(divisor).nonEmpty || NumberForms.isNeverNaN(divisor)

  private object Positive {
    def unapply(e: Expression): Boolean = NumberForms.Constant.unapply(e).exists(_ > 0)
  }

  private object FirstCharacters {
    def unapply(e: Expression): Option[Expression] = e match {
      case Substring(text, Literal(0 | 1, _), length) if length.references.nonEmpty => Some(text)
      case _ => None
    }
  }

  private def of(text: Expression, string: Expression)(
      found: (Expression, Expression) => Expression
  ): Option[Expression] =
    if (Seq(text, string).forall(_.dataType == StringType)) Some(found(text, string)) else None

  /** The rest of a text from some character on: `right(text, n)` is written so, next to other cases. */
  private object LastCharacters {
    def unapply(e: Expression): Option[Expression] = e match {
      case If(_, Literal(null, _) | Empty(), rest) => unapply(rest)
      case Substring(text, _, Literal(Int.MaxValue, _)) => Some(text)
      case _ => None
    }
  }
}
