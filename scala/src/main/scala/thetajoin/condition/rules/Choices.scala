package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._

import thetajoin.condition.IsNotTrue

object Choices extends ValueRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "a.t >= coalesce(b.lo, a.t) AND a.t <= coalesce(b.hi, a.t)",
      "(b.lo IS NULL OR a.t >= b.lo) AND (b.hi IS NULL OR a.t <= b.hi)"
    )
  )
  override val proof: String =
    "The value is one of the choices, and each choice is compared only where it is chosen: " +
      "coalesce passes over nulls."

  override def bounds(
      e: Expression,
      end: End,
      of: (Expression, End) => Seq[Bounding]
  ): Option[Seq[Bounding]] =
    choices(e).map(_.flatMap(choice => of(choice.value, end).map(_.butFor(choice.unless))))

  private def choices(e: Expression): Option[Seq[Bounding]] = e match {
    case Coalesce(values) =>
      Some(values.indices.map { i =>
        Bounding(values(i), values.take(i).map(IsNotNull(_)) :+ IsNull(values(i)))
      })
    case If(condition, yes, no) => Some(ofCase(Seq(condition -> yes), Some(no)))
    case CaseWhen(branches, otherwise) => Some(ofCase(branches, otherwise))
    case _ => None
  }

  private def ofCase(
      branches: Seq[(Expression, Expression)],
      otherwise: Option[Expression]
  ): Seq[Bounding] = {
    val conditions = branches.map(_._1)
    val chosen = branches.zipWithIndex.map { case ((condition, value), i) =>
      Bounding(value, conditions.take(i) :+ IsNotTrue(condition))
    }
    chosen ++ otherwise.map(Bounding(_, conditions))
  }
}
