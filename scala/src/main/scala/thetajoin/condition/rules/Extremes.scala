package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions.{Expression, Greatest, IsNull, Least}

object Extremes extends ValueRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "greatest(a.lo, b.lo) <= least(a.hi, b.hi)",
      "(a.lo IS NULL OR b.hi IS NULL OR a.lo <= b.hi) AND " +
        "(b.lo IS NULL OR a.hi IS NULL OR b.lo <= a.hi)"
    ),
    Reading(
      "greatest(abs(a.lo - b.lo), abs(a.hi - b.hi)) <= 1",
      "(a.lo IS NULL OR b.lo IS NULL OR abs(a.lo - b.lo) <= 1) AND " +
        "(a.hi IS NULL OR b.hi IS NULL OR abs(a.hi - b.hi) <= 1)"
    )
  )
  override val proof: String =
    "No argument is above the greatest one or below the least one. " +
      "Both functions skip nulls, so a null is not compared."

  override def bounds(
      e: Expression,
      end: End,
      of: (Expression, End) => Seq[Bounding]
  ): Option[Seq[Bounding]] = (e, end) match {
    case (Greatest(values), End.Below) => Some(values.flatMap(ofArgument(_, end, of)))
    case (Least(values), End.Above) => Some(values.flatMap(ofArgument(_, end, of)))
    case _ => None
  }

  private def ofArgument(
      value: Expression,
      end: End,
      of: (Expression, End) => Seq[Bounding]
  ): Seq[Bounding] =
    of(value, end).map(_.butFor(if (value.nullable) Seq(IsNull(value)) else Nil))
}
