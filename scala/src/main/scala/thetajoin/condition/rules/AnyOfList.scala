package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions.{EqualTo, Expression, In, Or}

object AnyOfList extends ConditionRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "b.kind IN (a.kind, '*')",
      "(b.kind = a.kind OR b.kind = '*')"
    )
  )
  override val proof: String = "A value is in a list if it is equal to one of the list."

  override def rewritten(condition: Expression): Option[Expression] = condition match {
    // A list with more columns is served as an array.
    case In(value, list) if list.size <= Most && list.count(!_.foldable) == 1 =>
      list.map[Expression](EqualTo(value, _)).reduceOption(Or(_, _))
    case _ => None
  }

  /** An OR of more equalities has no index of its own. */
  private val Most = 16
}
