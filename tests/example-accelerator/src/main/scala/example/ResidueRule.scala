package example

import org.apache.spark.sql.catalyst.expressions._

import thetajoin.condition.rules.{ConditionRule, Reading}

/** A rule of your own: another form of the condition that [[ResidueAccelerator]] serves. */
final class ResidueRule extends ConditionRule {
  override val readings: Seq[Reading] =
    Seq(Reading("pmod(a.x + b.y, 64) = 0", "(a.x + b.y) % 64 = 0"))
  override val proof: String = "Both remainders are zero for the multiples of the divisor."

  override def rewritten(condition: Expression): Option[Expression] = condition match {
    case EqualTo(p: Pmod, zero @ Literal(0L, _)) => Some(EqualTo(new Remainder(p.left, p.right), zero))
    case _ => None
  }
}
