package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._

object NullSafe extends ConditionRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "a.t > b.t AND (a.x = b.x OR a.x IS NULL AND b.x IS NULL)",
      "a.t > b.t AND a.x <=> b.x"
    )
  )
  override val proof: String = "Two values are the same if they are equal, or both null."

  override def rewritten(condition: Expression): Option[Expression] = condition match {
    case Or(EqualTo(l, r), BothNull(x, y)) => of(l, r, x, y)
    case Or(BothNull(x, y), EqualTo(l, r)) => of(l, r, x, y)
    case _ => None
  }

  private def of(l: Expression, r: Expression, x: Expression, y: Expression): Option[Expression] =
    if (l.semanticEquals(x) && r.semanticEquals(y) || l.semanticEquals(y) && r.semanticEquals(x))
      Some(EqualNullSafe(l, r))
    else None

  private object BothNull {
    def unapply(e: Expression): Option[(Expression, Expression)] = e match {
      case And(IsNull(x), IsNull(y)) => Some((x, y))
      case _ => None
    }
  }
}
