package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._

object SharedPart extends FormRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "size(array_intersect(a.tags, b.tags)) / size(array_union(a.tags, b.tags)) >= 0.5",
      "size(array_intersect(a.tags, b.tags)) >= 1"
    )
  )
  override val proof: String = "A part above zero of a number that is not below zero is above zero."

  override def implied(condition: Expression): Option[Expression] = condition match {
    case GreaterThan(Part(shared), Positive()) => atLeastOne(shared)
    case GreaterThanOrEqual(Part(shared), Positive()) => atLeastOne(shared)
    case LessThan(Positive(), Part(shared)) => atLeastOne(shared)
    case LessThanOrEqual(Positive(), Part(shared)) => atLeastOne(shared)
    case _ => None
  }

  private def atLeastOne(shared: Size): Option[Expression] =
    Some(GreaterThanOrEqual(shared, Literal(1)))

  private object Part {
    def unapply(e: Expression): Option[Size] = e match {
      case Divide(Count(size @ Size(_: ArrayIntersect, false)), Count(Size(_, false)), _) =>
        Some(size)
      case _ => None
    }
  }

  /** A number as it is, or in a wider type. */
  private object Count {
    def unapply(e: Expression): Option[Size] = e match {
      case Cast(size: Size, _, _, _) => Some(size)
      case size: Size => Some(size)
      case _ => None
    }
  }

  private object Positive {
    def unapply(e: Expression): Boolean = e match {
      case Literal(n: Double, _) => n > 0
      case Literal(n: org.apache.spark.sql.types.Decimal, _) => n.toDouble > 0
      case _ => false
    }
  }
}
