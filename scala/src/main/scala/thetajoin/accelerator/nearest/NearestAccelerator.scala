package thetajoin.accelerator.nearest

import org.apache.spark.sql.catalyst.expressions.{
  AttributeSet,
  BitwiseNot,
  Coalesce,
  CreateNamedStruct,
  Expression,
  If,
  IsNotNull,
  Literal,
  SortOrder
}

import thetajoin.condition.{Operator, OrderedLong, Safety, Tried}
import thetajoin.contract.{Accelerator, Contract, Cost, JoinRequest, Need, Offer}
import thetajoin.kit.{Bound, EqualKeys, Segments, ValueOrder, ValueRank}
import thetajoin.reason.{Reason, ReasonCode}

/**
 * ASOF joins and joins with the nearest rows: of the build rows with the same keys, the rows with the highest value
 * up to a bound, or the lowest from a bound on, or the nearest from both sides.
 *
 * {{{
 *   a.k = b.k AND a.t >= b.t, by b.t descending      rows of a key are sorted by b.t, negated: from a.t on
 *   a.k = b.k AND a.t <= b.t, by b.t                 the same, not negated
 *   a.k = b.k AND a.t <= b.t, by b.t descending      from the last row of the key on
 *   a.k = b.k, by abs(a.t - b.t)                     from a.t on in both directions
 *   a.k = b.k AND a.t >= b.t, by a.t - b.t           the same, if the differences have another order than the values
 * }}}
 *
 * Other bounds, such as a tolerance, end the candidates.
 */
object NearestAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "nearest"

  override val summary: String =
    "ASOF and nearest joins: rows are sorted by their keys and the value that is compared, " +
      "and a probe is a search for the rows next to its own value."

  override def wireClasses: Seq[Class[_]] =
    Seq(
      classOf[NearestSpec],
      classOf[Nearest],
      classOf[First],
      classOf[ClosestSpec],
      classOf[NearestValuesSpec],
      classOf[NearestValues],
      classOf[Closest],
      classOf[FirstClosest],
      classOf[Segments]
    ) ++ ValueRank.wireClasses

  override def reasons: Seq[ReasonCode] = Seq(OtherRank)

  override def offer(request: JoinRequest): Either[Reason, Offer] = request.need match {
    case Need.Lowest(_, rank) =>
      EqualKeys.of(request.shape, request.buildSide).flatMap { equal =>
        ValueDistance.of(rank, request) match {
          case Some(distance) => Right(closest(request, rank.child, distance, equal))
          case None => next(request, rank, equal)
        }
      }
    case _ => Left(ReasonCode.OtherNeed())
  }

  private def closest(
      request: JoinRequest,
      rank: Expression,
      distance: ValueDistance,
      equal: EqualKeys
  ): Offer = {
    val bounds = request.shape.plainComparisons.flatMap(Bound.of(_, request.buildSide))
      .filter(distance.isOf)
    def one(isLower: Boolean) = bounds.find(_.isLower == isLower)
    val (lower, upper) = (one(isLower = true), one(isLower = false))
    def isStrict(bound: Bound) = bound.strict && distance.localTime.isEmpty
    val reach = (lower ++ upper).map { bound =>
      val end = if (bound.isLower) Long.MinValue else Long.MaxValue
      if (distance.isExact(bound)) distance.reach(bound) else orEnd(distance.reach(bound), end)
    }
    val used = (lower ++ upper).toSeq
    equal.ahead(Offer(
      served = used.map(_.source) :+ rank,
      exact = used.filter(distance.isExact).map(_.source),
      buildKeys = Seq(distance.number(distance.build)),
      probeKeys = distance.number(distance.probe) +: (reach ++ distance.doubt).toSeq,
      spec = ClosestSpec(
        equal.size,
        lower.map(isStrict),
        upper.map(isStrict),
        distance.isFloating,
        hasDoubt = distance.doubt.isDefined,
        wraps = distance.wraps,
        nullsFirst = distance.nullsFirst
      ),
      cost = if (distance.isRank) cost(equal, used.size) else Narrowed,
      isRanked = distance.isRank
    ))
  }

  private def next(
      request: JoinRequest,
      rank: SortOrder,
      equal: EqualKeys
  ): Either[Reason, Offer] = {
    val isOfBuild = rank.child.references.subsetOf(AttributeSet(request.build)) &&
      Safety.cannotFail(rank.child)
    if (!isOfBuild || ValueOrder.unordered(rank.dataType).isDefined) Left(OtherRank(rank.sql))
    else if (firstOf(rank).nonEmpty) ofStructs(request, rank, firstOf(rank).get, equal)
    else if (!OrderedLong.orders(rank.dataType)) ofValues(request, rank, equal)
    else {
      val value = OrderedLong.of(rank.child)
      val bounds = request.shape.plainComparisons.flatMap(Bound.of(_, request.buildSide))
        .filter(_.build.semanticEquals(value))
      val (lower, upper) = bounds.partition(_.isLower == rank.isAscending)
      if (equal.isEmpty && bounds.isEmpty) Left(OtherRank(rank.sql))
      else Right(offer(rank, equal, value, best(lower), best(upper)))
    }
  }

  /** The first value of an order by several, if it is a number. */
  private def firstOf(rank: SortOrder): Option[Expression] = rank.child match {
    case struct: CreateNamedStruct =>
      struct.valExprs.headOption.filter(first => OrderedLong.orders(first.dataType))
    case _ => None
  }

  /** The condition bounds the first value. Structs are numbered in their order. */
  private def ofStructs(
      request: JoinRequest,
      rank: SortOrder,
      first: Expression,
      equal: EqualKeys
  ): Either[Reason, Offer] = {
    val value = OrderedLong.of(first)
    val bounds = request.shape.plainComparisons.flatMap(Bound.of(_, request.buildSide))
      .filter(_.build.semanticEquals(value))
      .map { bound =>
        // A bound from below is below the values that equal it, unless these do not pass.
        val isAbove = bound.isLower == bound.strict
        bound.copy(probe = ValueRank(bound.probe, Some(isAbove)), strict = false)
      }
    val (lower, upper) = bounds.partition(_.isLower == rank.isAscending)
    if (equal.isEmpty && bounds.isEmpty) Left(OtherRank(rank.sql))
    else {
      // A row whose first value is null does not pass a bound.
      val compared =
        if (bounds.isEmpty || !first.nullable) rank.child
        else If(IsNotNull(first), rank.child, Literal(null, rank.dataType))
      val found =
        offer(rank, equal, ValueRank(compared), exactOf(lower), exactOf(upper))
      Right(ValueRank.resolved(found, found.probeKeys.indices.map(math.min(_, equal.size))))
    }
  }

  private def exactOf(bounds: Seq[Bound]): Option[Bound] = bounds.find(_.exact)

  private def ofValues(
      request: JoinRequest,
      rank: SortOrder,
      equal: EqualKeys
  ): Either[Reason, Offer] = {
    val bounds = request.shape.plainComparisons.filter(_.exact).map { comparison =>
      (comparison.source, comparison.oriented(request.buildSide))
    }.collect {
      case (source, (build, operator, probe)) if build.semanticEquals(rank.child) =>
        (source, operator, probe)
    }
    def isLower(operator: Operator) =
      operator == Operator.Greater || operator == Operator.GreaterOrEqual
    def isStrict(operator: Operator) = operator == Operator.Greater || operator == Operator.Less
    val (from, until) = bounds.partition(b => isLower(b._2) == rank.isAscending)
    val used = (from.headOption ++ until.headOption).toSeq
    if (equal.isEmpty && used.isEmpty) Left(OtherRank(rank.sql))
    else
      Right(equal.ahead(Offer(
        served = used.map(_._1),
        exact = used.map(_._1),
        buildKeys = Seq(rank.child),
        probeKeys = used.map(_._3),
        spec = NearestValuesSpec(
          equal.size,
          rank.isAscending,
          from.headOption.map(b => isStrict(b._2)),
          until.headOption.map(b => isStrict(b._2))
        ),
        cost = cost(equal, used.size) + ComparedValues,
        isRanked = true
      )))
  }

  /** The time that values need beyond the time of numbers. */
  private val ComparedValues = Cost(share = 0.0, perProbe = 300, perBuildRow = 400)

  /** If the driver tells by the rank of each candidate which others are needed. */
  private val Narrowed = Cost(share = 0.001, perProbe = 500, perBuildRow = 250)

  private def best(bounds: Seq[Bound]): Option[Bound] =
    bounds.find(_.exact).orElse(bounds.headOption)

  private def offer(
      rank: SortOrder,
      equal: EqualKeys,
      value: Expression,
      lower: Option[Bound],
      upper: Option[Bound]
  ): Offer = {
    def ascending(e: Expression) = if (rank.isAscending) e else BitwiseNot(e)
    val bounds = (lower ++ upper).toSeq
    equal.ahead(Offer(
      served = bounds.map(_.source),
      exact = bounds.filter(_.exact).map(_.source),
      buildKeys = Seq(ascending(value)),
      probeKeys = bounds.map { bound =>
        val end = if (lower.contains(bound)) Long.MinValue else Long.MaxValue
        if (bound.exact) ascending(bound.probe) else orEnd(ascending(bound.probe), end)
      },
      spec = NearestSpec(equal.size, lower.map(_.strict), upper.map(_.strict)),
      cost = cost(equal, bounds.size),
      isRanked = true
    ))
  }

  private def cost(equal: EqualKeys, bounds: Int): Cost = {
    val ofKeys = if (equal.isEmpty) 1.0 else 0.1
    Cost(ofKeys * math.pow(0.5, bounds.toDouble), perProbe = 100, perBuildRow = 250)
  }

  /**
   * A bound that can't be computed (`a.t - tolerance` may overflow) is none, and the residual raises the error if a
   * pair needs it.
   */
  private def orEnd(bound: Expression, end: Long): Expression =
    Coalesce(Seq(Tried(bound), Literal(end)))

  case object OtherRank
      extends ReasonCode(
        "OTHER_RANK",
        "The index can't find the first k matches in this order. It can if the order is a value " +
          "of the build side next to a comparison of it or an equality key, or is a distance " +
          "such as abs(a.t - b.t)",
        "Order by a number, date or timestamp of the right side that the condition compares " +
          "with the left side, or by their distance abs(a.t - b.t)."
      )
}
