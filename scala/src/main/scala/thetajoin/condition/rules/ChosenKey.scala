package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._

import thetajoin.condition.Safety

object ChosenKey extends FormRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "b.x = CASE WHEN b.kind = '*' THEN a.x WHEN b.kind = 'net' THEN a.y END",
      "(b.kind = '*' AND b.x = a.x OR b.kind = 'net' AND b.x = a.y)"
    )
  )
  override val proof: String = "The value is equal to one of the choices, whose condition is true."

  override def implied(condition: Expression): Option[Expression] = condition match {
    case EqualTo(value, Choice(choice)) => of(value, choice)
    case EqualTo(Choice(choice), value) => of(value, choice)
    case _ => None
  }

  /**
   * A constant would be an alternative of one side, which all rows of the other side pass. A value that may fail is
   * only evaluated if no condition ahead of its own is true.
   */
  private def of(value: Expression, choice: CaseWhen): Option[Expression] = {
    val last = choice.elseValue.filter(_ != Literal(null, value.dataType))
    val values = choice.branches.map(_._2) ++ last
    val isKnown =
      choice.branches.size <= Branches.Most && !value.foldable && Safety.cannotFail(value) &&
        values.forall(v => !v.foldable && Safety.cannotFail(v)) &&
        choice.branches.forall(b => Safety.cannotFail(b._1))
    def chosen = choice.branches.map { case (when, v) => And(when, EqualTo(value, v)) } ++
      last.map(EqualTo(value, _))
    if (isKnown) chosen.reduceOption[Expression](Or(_, _)) else None
  }

  /** A cast is one of each value. */
  private object Choice {
    def unapply(e: Expression): Option[CaseWhen] = e match {
      case choice: CaseWhen => Some(choice)
      case c @ Cast(CaseWhen(branches, last), _, _, _) =>
        def cast(value: Expression) = c.withNewChildren(Seq(value))
        Some(CaseWhen(branches.map(b => b._1 -> cast(b._2)), last.map(cast)))
      case _ => None
    }
  }
}
