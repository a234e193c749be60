package thetajoin.accelerator.nearest

import org.apache.spark.sql.catalyst.expressions.{
  AttributeSet,
  BitwiseNot,
  Coalesce,
  Expression,
  Literal,
  SortOrder,
  TryEval
}

import thetajoin.condition.OrderedLong
import thetajoin.contract.{Accelerator, Cost, JoinRequest, Need, Offer}
import thetajoin.kit.{Bound, EqualKeys, Segments}
import thetajoin.reason.{Reason, ReasonCode}

/**
 * ASOF joins: of the build rows with the same keys, the one with the highest value up to a bound, or the lowest from a bound on.
 *
 * {{{
 *   a.k = b.k AND a.t >= b.t, by b.t descending      rows of a key are sorted by b.t, turned over: the first from a.t on
 *   a.k = b.k AND a.t <= b.t, by b.t                 the same, not turned over
 * }}}
 *
 * A bound from the other end, as a tolerance is one, ends the candidates.
 */
object NearestAccelerator extends Accelerator {
  override val id: String = "nearest"

  override val summary: String =
    "ASOF joins: rows are sorted by their keys and the value that is compared, and a probe is a search for the row next to its own value."

  override def wireClasses: Seq[Class[_]] =
    Seq(classOf[NearestSpec], classOf[Nearest], classOf[First], classOf[Segments])

  override def reasons: Seq[ReasonCode] = Seq(OtherRank)

  override def isFor(need: Need): Boolean = need.isInstanceOf[Need.Lowest]

  override def offer(request: JoinRequest): Either[Reason, Offer] = request.need match {
    case Need.Lowest(_, rank) =>
      EqualKeys.of(request.shape, request.buildSide).flatMap(ranked(request, rank, _))
    case _ => Left(OtherRank("all matches are asked for"))
  }

  private def ranked(
      request: JoinRequest,
      rank: SortOrder,
      equal: EqualKeys
  ): Either[Reason, Offer] = {
    val isOfBuild = rank.child.references.subsetOf(AttributeSet(request.build))
    if (!isOfBuild || !OrderedLong.orders(rank.child.dataType)) Left(OtherRank(rank.sql))
    else {
      val value = OrderedLong(rank.child)
      val bounds = request.shape.plainComparisons.flatMap(Bound.of(_, request.buildSide))
        .filter(_.build.semanticEquals(value))
      val (lower, upper) = bounds.partition(_.isLower == rank.isAscending)
      lower.find(_.exact) match {
        case Some(bound) => Right(offer(rank, equal, value, bound, upper.headOption))
        case None => Left(OtherRank(rank.sql))
      }
    }
  }

  private def offer(
      rank: SortOrder,
      equal: EqualKeys,
      value: Expression,
      lower: Bound,
      upper: Option[Bound]
  ): Offer = {
    def ascending(e: Expression) = if (rank.isAscending) e else BitwiseNot(e)
    val bounds = lower +: upper.toSeq
    Offer(
      served = equal.sources ++ bounds.map(_.source),
      exact = equal.sources ++ bounds.filter(_.exact).map(_.source),
      buildKeys = equal.build :+ ascending(value),
      probeKeys = equal.probe ++ (ascending(lower.probe) +: upper.map(orNone(_, ascending)).toSeq),
      spec = NearestSpec(equal.build.size, lower.strict, upper.map(_.strict)),
      cost = Cost(share = 0.1, perProbe = 100, perBuildRow = 250),
      isRanked = true
    )
  }

  /** A bound that can't be computed (`a.t - tolerance` may overflow) is none, and the residual raises the error if a pair needs it. */
  private def orNone(bound: Bound, ascending: Expression => Expression): Expression =
    if (bound.exact) ascending(bound.probe)
    else Coalesce(Seq(TryEval(ascending(bound.probe)), Literal(Long.MaxValue)))

  case object OtherRank
      extends ReasonCode(
        "OTHER_RANK",
        "The nearest row is not told by one value of the side to build that the condition bounds",
        "Order by a number, date or timestamp of the right side that is compared with one of the left."
      )
}
