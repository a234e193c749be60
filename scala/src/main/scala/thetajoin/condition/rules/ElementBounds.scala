package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._

import thetajoin.condition.{ConditionAnalysis, Operator, OrderedBy}

object ElementBounds extends FormRule {
  override val form: String = "exists(b.ranges, x -> a.v BETWEEN x.lo AND x.hi)"
  override val becomes: String =
    "a.v >= array_min(transform(b.ranges, x -> x.lo)) AND a.v <= array_max(transform(b.ranges, x -> x.hi))"
  override val proof: String = "The element for which the function is true is one of them."

  override def implied(condition: Expression): Option[Expression] = condition match {
    case ArrayExists(array, function @ LambdaFunction(body, Seq(x: NamedLambdaVariable), _), _) =>
      ConditionAnalysis.conjuncts(body).flatMap {
        case OrderedBy(l, operator, r) =>
          bound(l, operator, r, array, function, x)
            .orElse(bound(r, operator.flipped, l, array, function, x))
        case _ => None
      }.reduceOption(And(_, _))
    case _ => None
  }

  private def bound(
      value: Expression,
      operator: Operator,
      ofElement: Expression,
      array: Expression,
      function: LambdaFunction,
      x: NamedLambdaVariable
  ): Option[Expression] =
    if (!ElementWith.isOf(ofElement, x) || value.exists(_.semanticEquals(x))) None
    else {
      val ofElements = ArrayTransform(array, function.copy(function = ofElement))
      val extreme = if (operator.isBelow) ArrayMax(ofElements) else ArrayMin(ofElements)
      Some(operator.of(value, extreme))
    }
}
