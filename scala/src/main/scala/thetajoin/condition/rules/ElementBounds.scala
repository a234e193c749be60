package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._

import thetajoin.condition.{ConditionAnalysis, Operator, OrderedBy}

object ElementBounds extends FormRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "exists(b.ranges, r -> a.t BETWEEN r.lo AND r.hi)",
      "a.t >= array_min(transform(b.ranges, r -> r.lo)) AND a.t <= " +
        "array_max(transform(b.ranges, r -> r.hi))"
    )
  )
  override val proof: String = "The element for which the function is true is one of them."

  override def implied(condition: Expression): Option[Expression] = condition match {
    case ArrayExists(array, function @ LambdaFunction(body, Seq(x: NamedLambdaVariable), _), _) =>
      val bounds = ConditionAnalysis.conjuncts(body).flatMap {
        case OrderedBy(l, operator, r) =>
          bound(l, operator, r, array, function, x)
            .orElse(bound(r, operator.flipped, l, array, function, x))
        case _ => None
      }
      // One end alone would leave half of all pairs, and cost a look at all elements.
      val (lower, upper) = bounds.partition(_._1.isBelow)
      if (lower.isEmpty || upper.isEmpty) None else bounds.map(_._2).reduceOption(And(_, _))
    case _ => None
  }

  private def bound(
      value: Expression,
      operator: Operator,
      ofElement: Expression,
      array: Expression,
      function: LambdaFunction,
      x: NamedLambdaVariable
  ): Option[(Operator, Expression)] =
    if (!ElementWith.isOf(ofElement, x) || value.exists(_.semanticEquals(x))) None
    else {
      val ofElements = ArrayTransform(array, function.copy(function = ofElement))
      val extreme = if (operator.isBelow) ArrayMax(ofElements) else ArrayMin(ofElements)
      Some((operator, operator.of(value, extreme)))
    }
}
