package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions.{Coalesce, Expression, Literal}

object OrFalse extends ConditionRule {
  override val form: String = "coalesce(<condition>, false)"
  override val becomes: String = "<condition>"
  override val proof: String = "A join does not tell a condition that is null from a false one."

  override def rewritten(condition: Expression): Option[Expression] = condition match {
    case Coalesce(Seq(value, Literal.FalseLiteral)) => Some(value)
    case _ => None
  }
}
