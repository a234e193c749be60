package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.MapType

object EntryFound extends ConditionRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "a.m[b.key] = b.id",
      "array_contains(map_entries(a.m), named_struct('key', b.key, 'value', b.id))"
    )
  )
  override val proof: String = "A map has each key once."

  override def rewritten(condition: Expression): Option[Expression] = condition match {
    case EqualTo(Entry(map, key), value) => of(map, key, value)
    case EqualTo(value, Entry(map, key)) => of(map, key, value)
    case _ => None
  }

  private object Entry {
    def unapply(e: Expression): Option[(Expression, Expression)] = e match {
      case GetMapValue(map, key) => Some((map, key))
      case ElementAt(map, key, _, _) if map.dataType.isInstanceOf[MapType] => Some((map, key))
      case _ => None
    }
  }

  private def of(map: Expression, key: Expression, value: Expression): Option[Expression] = {
    val t = map.dataType.asInstanceOf[MapType]
    val others = key.references ++ value.references
    val isOfSides = map.references.nonEmpty && others.nonEmpty &&
      !others.exists(map.references.contains)
    if (!isOfSides || key.dataType != t.keyType || value.dataType != t.valueType) None
    else {
      val entry = CreateNamedStruct(Seq(Literal("key"), key, Literal("value"), value))
      Some(And(And(IsNotNull(key), IsNotNull(value)), ArrayContains(MapEntries(map), entry)))
    }
  }
}
