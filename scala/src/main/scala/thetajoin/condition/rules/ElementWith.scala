package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._

import thetajoin.condition.ConditionAnalysis

object ElementWith extends FormRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "exists(a.items, i -> i.kind = b.tag AND i.n >= b.id)",
      "array_contains(transform(a.items, i -> i.kind), b.tag)"
    )
  )
  override val proof: String = "The element for which the function is true has the value."

  override def implied(condition: Expression): Option[Expression] = condition match {
    case ArrayExists(
          array,
          function @ LambdaFunction(body, Seq(x: NamedLambdaVariable), hidden),
          _
        ) =>
      ConditionAnalysis.conjuncts(body).iterator.flatMap {
        case EqualTo(l, r) => value(l, r, x).orElse(value(r, l, x))
        case _ => None
      }.nextOption().map { case (ofElement, value) =>
        val read = LambdaFunction(ofElement, Seq(x), hidden)
        ArrayContains(ArrayTransform(array, read), value)
      }
    case _ => None
  }

  /** A value that is read from the element, other than itself, and one that is not. */
  private def value(
      ofElement: Expression,
      other: Expression,
      x: NamedLambdaVariable
  ): Option[(Expression, Expression)] =
    if (ofElement == x || !isOf(ofElement, x) || other.exists(_.semanticEquals(x))) None
    else Some((ofElement, other))

  /** Whether an expression reads the element and nothing else. */
  private[rules] def isOf(e: Expression, x: NamedLambdaVariable): Boolean = {
    val (ofElement, others) = e.collectLeaves().partition(_.semanticEquals(x))
    ofElement.nonEmpty && others.forall(_.foldable)
  }
}
