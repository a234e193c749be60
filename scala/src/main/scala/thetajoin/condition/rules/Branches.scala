package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.BooleanType

import thetajoin.condition.{IsNotTrue, Safety}

object Branches extends ConditionRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "CASE WHEN b.kind = '*' THEN true ELSE a.kind = b.kind END",
      "(b.kind = '*' OR a.kind = b.kind)"
    ),
    Reading(
      "if(b.x IS NULL, false, a.x = b.x)",
      "a.x = b.x AND b.x IS NOT NULL"
    )
  )
  override val proof: String =
    "A branch that is true needs its condition alone, and a branch that is false needs the negated one."

  override def rewritten(condition: Expression): Option[Expression] = condition match {
    case _ if condition.dataType != BooleanType => None
    case If(when, yes, no) => of(when, yes, no)
    case CaseWhen(Seq((when, yes), others @ _*), no) if others.size < Most =>
      val rest =
        if (others.isEmpty) no.getOrElse(Literal.FalseLiteral) else CaseWhen(others, no)
      of(when, yes, rest)
    case _ => None
  }

  private def of(when: Expression, yes: Expression, no: Expression): Option[Expression] =
    (yes, no) match {
      case (Literal.TrueLiteral, _) => Some(Or(when, no))
      case (_, Literal(null | false, _)) if isSafe(when, yes) => Some(And(when, yes))
      case (Literal(null | false, _), _) if isSafe(when, no) => Some(And(IsNotTrue(when), no))
      case _ => None
    }

  /** Parts of an AND may be evaluated in another order. */
  private def isSafe(parts: Expression*): Boolean = parts.forall(Safety.cannotFail)

  /** A CASE of more branches is left as it is. */
  private[condition] val Most = 8
}
