package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.StringType

object StringFound extends FormRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "right(a.text, length(b.name)) = b.name",
      "endswith(a.text, b.name)"
    ),
    Reading(
      "length(replace(a.text, b.name, '')) < length(a.text)",
      "contains(a.text, b.name)"
    )
  )
  override val proof: String =
    "The last characters of a text are an end of it, and only a string that is found is replaced."

  override def implied(condition: Expression): Option[Expression] = condition match {
    case EqualTo(LastCharacters(text), string) => of(text, string)(EndsWith(_, _))
    case EqualTo(string, LastCharacters(text)) => of(text, string)(EndsWith(_, _))
    case LessThan(Length(StringReplace(text, string, _)), Length(whole))
        if text.semanticEquals(whole) =>
      of(text, string)(Contains(_, _))
    case GreaterThan(Length(whole), Length(StringReplace(text, string, _)))
        if text.semanticEquals(whole) =>
      of(text, string)(Contains(_, _))
    case _ => None
  }

  private def of(text: Expression, string: Expression)(
      found: (Expression, Expression) => Expression
  ): Option[Expression] =
    if (Seq(text, string).forall(_.dataType == StringType)) Some(found(text, string)) else None

  /** The rest of a text from some character on: `right(text, n)` is written so, next to other cases. */
  private object LastCharacters {
    def unapply(e: Expression): Option[Expression] = e match {
      case If(_, _: Literal, rest) => unapply(rest)
      case Substring(text, _, Literal(Int.MaxValue, _)) => Some(text)
      case _ => None
    }
  }
}
