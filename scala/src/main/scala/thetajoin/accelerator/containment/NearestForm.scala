package thetajoin.accelerator.containment

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DoubleType, LongType}

import thetajoin.condition.NumberForms.{Constant, plain}
import thetajoin.condition.OrderedLong

/**
 * An order of pairs in which the arrays that are most alike come first: by a part of [[AlikeForm]] from the highest
 * on, or by `1 - part` from the lowest on.
 *
 * @param from the number from which the part is subtracted, if it is
 * @param nulls where matches without a part come
 */
private[containment] final case class NearestForm(
    part: AlikeForm.Quotient,
    from: Option[Double],
    nulls: Int
) {

  /** @param least matches are alike by this part at least */
  def order(measure: Measure, least: Double): NearestOrder =
    NearestOrder(measure, weight, from.getOrElse(Double.NaN), least, nulls)

  def mayBeNull: Boolean = nulls != NearestOrder.NoNulls

  /** The part times this is what Spark computes, or a little more where Spark rounds more than once. */
  private def weight: Double =
    if (part.isScaledExactly && part.of != AlikeForm.GeometricMean) part.weight
    else part.weight * (1.0 + 1e-12)
}

private[containment] object NearestForm {
  def of(rank: SortOrder): Option[NearestForm] = rank.child match {
    case Coalesce(Seq(OrderedLong(value), Literal(ofNull: Long, LongType))) =>
      val areFirst = (ofNull == Long.MinValue) == rank.isAscending
      of(
        value,
        rank.isAscending,
        if (areFirst) NearestOrder.NullsFirst else NearestOrder.NullsLast
      )
    case value => of(value, rank.isAscending, NearestOrder.NoNulls)
  }

  private def of(value: Expression, isAscending: Boolean, nulls: Int): Option[NearestForm] = {
    val (quotient, from) = value match {
      case s: Subtract =>
        plain(s.left) match {
          case Constant(number) => (s.right, Some(number))
          case _ => (value, None)
        }
      case _ => (value, None)
    }
    quotient match {
      case AlikeForm.Quotient(part)
          if value.dataType == DoubleType && isAscending == from.isDefined =>
        Some(NearestForm(part, from, nulls))
      case _ => None
    }
  }
}
