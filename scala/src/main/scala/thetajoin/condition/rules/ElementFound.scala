package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._

import thetajoin.condition.Safety

object ElementFound extends ConditionRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "array_position(a.tags, b.tag) > 0",
      "array_contains(a.tags, b.tag)"
    ),
    Reading(
      "size(filter(a.tags, t -> t = b.tag)) > 0",
      "exists(a.tags, t -> t = b.tag)"
    ),
    Reading(
      "forall(b.tags, n -> exists(a.tags, t -> t = n))",
      "forall(b.tags, n -> array_contains(a.tags, n))"
    )
  )
  override val proof: String =
    "A place is not zero if the value is among the elements, and a filter leaves none if none passes."

  override def rewritten(condition: Expression): Option[Expression] = condition match {
    case NotZero(ArrayPosition(array, value)) => Some(ArrayContains(array, value))
    case NotZero(Size(ArrayFilter(array, function: LambdaFunction), false))
        if function.arguments.size == 1 =>
      Some(ArrayExists(array, function, followThreeValuedLogic = false))
    case ArrayExists(array, LambdaFunction(EqualTo(x, y), Seq(element), _), _)
        if array.references.nonEmpty && Seq(x, y).contains(element) =>
      val value = if (x == element) y else x
      // For an array without elements it would not be evaluated.
      val isSafe = value.isInstanceOf[NamedLambdaVariable] || Safety.cannotFail(value)
      val isFree = !value.exists(_ == element) && isSafe
      if (isFree) Some(ArrayContains(array, value)) else None
    case all @ ArrayForAll(_, function: LambdaFunction) =>
      rewritten(function.function).map(body => all.copy(function = function.copy(function = body)))
    case _ => None
  }
}
