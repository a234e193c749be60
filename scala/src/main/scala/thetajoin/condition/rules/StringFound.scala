package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.StringType

object StringFound extends FormRule {
  override val form: String = "right(a.t, n) = b.s, length(replace(a.t, b.s, '')) < length(a.t)"
  override val becomes: String = "endswith(a.t, b.s), contains(a.t, b.s)"
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

  /** `right(text, n)`, as Spark writes it out: empty if n is not above zero. */
  private object LastCharacters {
    def unapply(e: Expression): Option[Expression] = e match {
      case If(IsNull(text), Literal(null, _), If(_, empty: Literal, last: Substring))
          if empty.value != null && empty.value.toString.isEmpty && last.str.semanticEquals(text) &&
            last.pos.isInstanceOf[UnaryMinus] && isUnbounded(last.len) =>
        Some(text)
      case _ => None
    }
  }

  private def isUnbounded(length: Expression): Boolean = length match {
    case Literal(n: Int, _) => n == Int.MaxValue
    case _ => false
  }
}
