package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions.{Coalesce, EqualNullSafe, Expression, Literal}

object OrFalse extends ConditionRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "coalesce(a.t > b.t, false)",
      "a.t > b.t"
    ),
    Reading(
      "(a.x = b.x) <=> true",
      "a.x = b.x"
    )
  )
  override val proof: String = "A join does not tell a condition that is null from a false one."

  override def rewritten(condition: Expression): Option[Expression] = condition match {
    case Coalesce(Seq(value, Literal.FalseLiteral)) => Some(value)
    case EqualNullSafe(value, Literal.TrueLiteral) => Some(value)
    case EqualNullSafe(Literal.TrueLiteral, value) => Some(value)
    case _ => None
  }
}
