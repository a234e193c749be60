package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._

import thetajoin.condition.IsNotTrue

object OwnValue extends ConditionRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "a.x = coalesce(b.x, a.x)",
      "a.x IS NOT NULL AND (b.x IS NULL OR a.x = b.x)"
    ),
    Reading(
      "a.kind = if(b.kind = '*', a.kind, b.kind)",
      "a.kind IS NOT NULL AND (b.kind = '*' OR a.kind = b.kind)"
    )
  )
  override val proof: String =
    "A value that is not null is equal to itself, so only the other choice is left to compare. " +
      "A null is equal to nothing."

  override def rewritten(condition: Expression): Option[Expression] = condition match {
    case EqualTo(l, r) => of(l, r).orElse(of(r, l))
    case _ => None
  }

  private def of(own: Expression, chosen: Expression): Option[Expression] = {
    def isOwn(e: Expression) = e.semanticEquals(own)
    def equal(isChosen: Expression, other: Expression) =
      Some(And(IsNotNull(own), Or(isChosen, EqualTo(own, other))))
    chosen match {
      case Coalesce(Seq(other, last)) if isOwn(last) => equal(IsNull(other), other)
      case Choice(when, yes, no) if isOwn(yes) => equal(when, no)
      case Choice(when, yes, no) if isOwn(no) =>
        equal(IsNotTrue(when), yes)
      case _ => None
    }
  }

  private object Choice {
    def unapply(e: Expression): Option[(Expression, Expression, Expression)] = e match {
      case If(when, yes, no) => Some((when, yes, no))
      case CaseWhen(Seq((when, yes)), Some(no)) => Some((when, yes, no))
      case _ => None
    }
  }
}
