package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.StringType

object PatternFound extends FormRule {
  override val form: String =
    "regexp_instr(a.t, b.p) > 0, regexp_extract(a.t, b.p, 0) <> '', size(split(a.t, b.p)) > 1"
  override val becomes: String = "a.t RLIKE b.p"
  override val proof: String =
    "Without a match the place and the number of matches are zero, the extract is empty, and the text stays in one piece."

  override def implied(condition: Expression): Option[Expression] = condition match {
    case NotZero(RegExpInStr(text, pattern, _)) => of(text, pattern)
    case NotZero(Size(RegExpExtractAll(text, pattern, _), false)) => of(text, pattern)
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

  private object Empty {
    def unapply(e: Expression): Boolean = e match {
      case Literal(value, StringType) => value != null && value.toString.isEmpty
      case _ => false
    }
  }
}
