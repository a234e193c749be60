package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._

import thetajoin.condition.Operator

object FirstFields extends ComparisonRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "struct(a.x, b.y) < struct(b.x, a.y)",
      "a.x <= b.x"
    )
  )
  override val proof: String = "Structs are ordered by their first fields, then by the others."

  override def implied(l: Expression, operator: Operator, r: Expression): Option[Expression] =
    (l, r) match {
      case (lower: CreateNamedStruct, upper: CreateNamedStruct) =>
        val (x, y) = (lower.valExprs.head, upper.valExprs.head)
        if (x.dataType != y.dataType) None
        else {
          val compared = LessThanOrEqual(x, y)
          val nulls = Seq(x, y).filter(_.nullable).map(IsNull(_))
          Some(nulls.foldLeft[Expression](compared)((found, isNull) => Or(isNull, found)))
        }
      case _ => None
    }
}
