package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions.{And, Expression, Or}

import thetajoin.condition.Operator

/** All rules. Each is asked in this order, and the first one that knows an expression answers. */
object Rules {
  val ofValues: Seq[ValueRule] = Seq(Extremes, Choices, Sums)
  val ofComparisons: Seq[ComparisonRule] =
    Seq(Units, Rounded, Shifted, Magnitude, FirstFields, GreatCircle)
  val ofConditions: Seq[ConditionRule] =
    Seq(
      AnyOfList,
      OwnValue,
      NullSafe,
      OrFalse,
      Branches,
      Flags,
      ElementFound,
      EntryFound,
      ListFound
    )
  val ofForms: Seq[FormRule] =
    Seq(
      ElementWith,
      ElementBounds,
      KeyFound,
      SharedPart,
      SharedBits,
      PatternFound,
      StringFound,
      ChosenKey
    )

  /** What a comparison implies, if a rule knows its values. */
  def implied(l: Expression, operator: Operator, r: Expression): Option[Expression] = {
    val (lower, strict, upper) =
      if (operator.isBelow) (l, operator, r) else (r, operator.flipped, l)
    ofComparisons.iterator.flatMap(_.implied(lower, strict, upper)).nextOption()
  }

  /**
   * A condition with each of its parts, joined by AND and OR, in the form that rules give it. A form that a part
   * implies is put ahead of it.
   *
   * @param isDone whether a part has the form that is wanted, as an equality of the two sides
   */
  def rewritten(
      condition: Expression,
      isDone: Expression => Boolean = _ => false
  ): Expression = condition match {
    case _ if isDone(condition) => condition
    case And(implied, other) if form(other).exists(_.semanticEquals(implied)) => condition
    case And(l, r) => And(rewritten(l, isDone), rewritten(r, isDone))
    case Or(l, r) if NullSafe.rewritten(condition).isEmpty =>
      Or(rewritten(l, isDone), rewritten(r, isDone))
    case other =>
      ofConditions.iterator.flatMap(_.rewritten(other)).nextOption()
        .map(rewritten(_, isDone))
        .getOrElse(form(other).fold(other)(And(_, other)))
  }

  private def form(condition: Expression): Option[Expression] =
    ofForms.iterator.flatMap(_.implied(condition)).nextOption()

  /** What bounds a value from one end: the value itself, if no rule knows more. */
  def bounds(e: Expression, end: End): Seq[Bounding] =
    ofValues.iterator.flatMap(_.bounds(e, end, bounds)).nextOption().filter(_.size <= Most)
      .getOrElse(Seq(Bounding(e)))

  /** Of more bounds none is likely to be of use. */
  private val Most = 32
}
