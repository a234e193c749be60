package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.StringType

object PatternFound extends FormRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "regexp_instr(a.text, b.regex) > 0",
      "a.text RLIKE b.regex"
    ),
    Reading(
      "regexp_extract(a.text, b.regex, 0) <> ''",
      "a.text RLIKE b.regex"
    ),
    Reading(
      "regexp_substr(a.text, b.regex) IS NOT NULL",
      "a.text RLIKE b.regex"
    ),
    Reading(
      "size(split(a.text, b.name)) > 1",
      "a.text RLIKE b.name"
    )
  )
  override val proof: String =
    "Without a match the place and the number of matches are zero, the extract is empty, and the text stays in one piece."

  override def implied(condition: Expression): Option[Expression] = condition match {
    case AboveZero(RegExpInStr(text, pattern, _)) => of(text, pattern)
    case AboveZero(Size(RegExpExtractAll(text, pattern, _), false)) => of(text, pattern)
    case If(
          EqualTo(found @ RegExpExtract(text, pattern, _), Empty()),
          Literal.FalseLiteral,
          IsNotNull(same)
        ) if found.semanticEquals(same) =>
      of(text, pattern)
    case Not(EqualTo(RegExpExtract(text, pattern, _), Empty())) => of(text, pattern)
    case Not(EqualTo(Empty(), RegExpExtract(text, pattern, _))) => of(text, pattern)
    case GreaterThan(Size(StringSplit(text, pattern, _), _), Literal(n: Int, _)) if n >= 1 =>
      of(text, pattern)
    case GreaterThanOrEqual(Size(StringSplit(text, pattern, _), _), Literal(n: Int, _)) if n >= 2 =>
      of(text, pattern)
    case _ => None
  }

  private def of(text: Expression, pattern: Expression): Option[Expression] =
    if (Seq(text, pattern).forall(_.dataType == StringType)) Some(RLike(text, pattern)) else None
}

/** Matches the empty text. */
private[rules] object Empty {
  def unapply(e: Expression): Boolean = e match {
    case Literal(value, StringType) => value != null && value.toString.isEmpty
    case _ => false
  }
}
