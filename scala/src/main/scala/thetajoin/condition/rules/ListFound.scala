package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.StringType

object ListFound extends ConditionRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "find_in_set(b.tag, a.list) > 0",
      "array_contains(split(a.list, ','), b.tag)"
    )
  )
  override val proof: String = "A value with a comma is found in no list."

  override def rewritten(condition: Expression): Option[Expression] = condition match {
    case NotZero(FindInSet(value, list)) if Seq(value, list).forall(_.dataType == StringType) =>
      val comma = Literal(",")
      Some(And(
        Not(Contains(value, comma)),
        ArrayContains(StringSplit(list, comma, Literal(-1)), value)
      ))
    case _ => None
  }
}
