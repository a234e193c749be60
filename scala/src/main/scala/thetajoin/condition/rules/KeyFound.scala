package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.MapType

import thetajoin.condition.{ConditionAnalysis, OrderedBy, Safety}

object KeyFound extends FormRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "a.m[b.key] >= b.id",
      "array_contains(map_keys(a.m), b.key)"
    ),
    Reading(
      "size(map_filter(a.m, (k, v) -> k = b.key AND v > b.id)) > 0",
      "array_contains(map_keys(a.m), b.key)"
    )
  )
  override val proof: String = "The value of a key that a map does not have is null."

  override def implied(condition: Expression): Option[Expression] = condition match {
    case AboveZero(Size(MapFilter(map, LambdaFunction(body, Seq(key, value), _)), false)) =>
      ConditionAnalysis.conjuncts(body).collectFirst {
        case EqualTo(`key`, other) if isFree(other, key, value) => (map, other)
        case EqualTo(other, `key`) if isFree(other, key, value) => (map, other)
      }.flatMap(found)
    case OrderedBy(l, _, r) => entry(l).orElse(entry(r)).flatMap(found)
    case _ => None
  }

  private def isFree(e: Expression, variables: Expression*): Boolean =
    !e.exists(variables.contains) && Safety.cannotFail(e)

  /** The map and the key of a value, or of a number or a text that is made of it. */
  private def entry(e: Expression): Option[(Expression, Expression)] = e match {
    case GetMapValue(map, key) => Some((map, key))
    case ElementAt(map, key, _, _) if map.dataType.isInstanceOf[MapType] => Some((map, key))
    case c: Cast => entry(c.child)
    case _ => None
  }

  private def found(entry: (Expression, Expression)): Option[Expression] = {
    val (map, key) = entry
    val isOfSides = map.references.nonEmpty && key.references.nonEmpty &&
      !key.references.exists(map.references.contains)
    if (isOfSides && key.dataType == map.dataType.asInstanceOf[MapType].keyType)
      Some(ArrayContains(MapKeys(map), key))
    else None
  }
}
