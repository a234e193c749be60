package thetajoin.accelerator.boxes

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  BitwiseNot,
  Expression
}
import org.apache.spark.sql.types._

import thetajoin.condition.{
  OrderedLong,
  PairTested,
  PlaneDistance,
  Precision,
  Sides,
  Unequal
}
import thetajoin.contract.{Accelerator, Contract, Cost, JoinRequest, Need, Offer}
import thetajoin.kit.{Bound, EqualKeys, PairValues}
import thetajoin.reason.{Reason, ReasonCode}

/**
 * Three comparisons between the sides or more, with or without equality keys: a point in a box, boxes that overlap, a
 * box in a box, points that are near each other.
 *
 * {{{
 *   a.x BETWEEN b.x1 AND b.x2 AND a.y BETWEEN b.y1 AND b.y2
 *   a.x1 <= b.x2 AND b.x1 <= a.x2 AND a.y1 <= b.y2 AND b.y1 <= a.y2
 *   (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) <= 25
 *   st_contains(b.shape, a.place)                                        by the ends of their bounding boxes
 *   NEAREST 3 BY DISTANCE st_distance(a.place, b.shape)                  the nearest first
 * }}}
 *
 * Build rows are the leaves of a packed R-tree: rows that are near each other in all dimensions lie next to each
 * other. The outermost ends of every 16 of them, every 256 and so on are known.
 */
object BoxesAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "boxes"

  override val summary: String =
    "Geometries (st_contains and the like), distances and the nearest points, or three or more comparisons " +
      "between the sides (points in boxes, boxes that overlap), with or without equality keys: a probe walks " +
      "down a packed R-tree."

  override def reasons: Seq[ReasonCode] = Seq(FewDimensions)

  override def wireClasses: Seq[Class[_]] =
    Seq(
      classOf[Boxes],
      classOf[BoxRows],
      classOf[BoundTree],
      classOf[RankedDistance],
      classOf[Rounding],
      classOf[Array[Rounding]],
      classOf[Array[Array[Int]]],
      classOf[PairValues],
      classOf[Array[Array[Byte]]]
    )

  override def offer(request: JoinRequest): Either[Reason, Offer] =
    EqualKeys.of(request.shape, request.buildSide).flatMap { equal =>
      val bounds =
        request.shape.plainComparisons.flatMap(Bound.of(_, request.buildSide)).take(MostBounds)
      val extents = Extent.of(bounds.toIndexedSeq)
      val ranked = this.ranked(request)
      if (ranked.isEmpty && bounds.size < FewestBounds)
        Left(FewDimensions(s"${bounds.size} comparisons"))
      else if (ranked.isEmpty && isInterval(bounds, extents)) Left(FewDimensions("one"))
      else Right(offer(request, equal, bounds, extents, ranked))
    }

  /**
   * One dimension is bounded from both ends for sure: a sorted column and a tree over another leave as few rows
   * sooner.
   */
  private def isInterval(bounds: Seq[Bound], extents: Seq[Extent]): Boolean =
    extents.filterNot(_.isHalf) match {
      case Seq(extent) => Extent.isOne(bounds(extent.low), bounds(extent.high))
      case _ => false
    }

  /** The distance by which matches are ranked, if they are. */
  private def ranked(request: JoinRequest): Option[Ranked] = request.need match {
    case Need.Lowest(_, rank) if rank.isAscending =>
      val sides = new Sides(AttributeSet(request.build), AttributeSet(request.probe))
      for {
        isFloating <- isFloating(rank.dataType)
        distance <- PlaneDistance.of(rank.child, sides)
      } yield {
        val rounding = math.max(Precision.of(rank.child).rounding, distance.rounding)
        val (build, probe) = distance.spans.unzip
        Ranked(
          rank.child,
          build.flatMap(span => Seq(BitwiseNot(OrderedLong(span.low)), OrderedLong(span.high))),
          probe.flatMap(span => Seq(OrderedLong(span.low), OrderedLong(span.high))),
          RankedDistance(
            distance.spans.size,
            isFloating,
            distance.isSquared,
            distance.unit,
            rounding
          )
        )
      }
    case _ => None
  }

  /** None if it is no type of a distance. */
  private def isFloating(t: DataType): Option[Boolean] = t match {
    case DoubleType | FloatType => Some(true)
    case ByteType | ShortType | IntegerType | LongType => Some(false)
    case _ => None
  }

  private def offer(
      request: JoinRequest,
      equal: EqualKeys,
      bounds: Seq[Bound],
      extents: Seq[Extent],
      ranked: Option[Ranked]
  ): Offer = {
    val (build, probe) = bounds.map(_.ascending).unzip
    val rough = bounds.filterNot(_.equivalent).map(_.source)
    val sources = bounds.map(_.source).distinct
    val exact = sources.filterNot(rough.contains)
    val tested = this.tested(request, bounds, equal.sources ++ exact)
    equal.ahead(Offer(
      served = sources ++ ranked.map(_.rank),
      exact = exact ++ tested,
      buildKeys = build ++ ranked.toSeq.flatMap(_.build) ++ tested.map(value(_, request.build)),
      probeKeys = probe ++ ranked.toSeq.flatMap(_.probe) ++ tested.map(value(_, request.probe)),
      BoxesSpec(
        equal.size,
        bounds.map(_.strict),
        extents ++ ranked.toSeq.flatMap(_.extents(bounds.size)),
        tested.map(t => TestedValue(t.test, reads(t.left, request.build))),
        ranked.map(_.distance)
      ),
      cost = if (ranked.isDefined) Near else if (equal.isEmpty) Alone else Keyed
    ))
  }

  /** The condition that the index tests by itself. That values of a pair differ keeps no geometry from an error. */
  private def tested(
      request: JoinRequest,
      bounds: Seq[Bound],
      exact: Seq[Expression]
  ): Option[PairTested] = {
    val unequal = request.paired.collect { case u: Unequal => u.source }
    request.paired.map(_.source).collectFirst {
      case t: PairTested
          if bounds.exists(_.source == t) &&
            (t.test.cannotFail || !request.isGuarded(t, exact ++ unequal)) =>
        t
    }
  }

  private def value(test: PairTested, side: Seq[Attribute]): Expression =
    if (reads(test.left, side)) test.left else test.right

  private def reads(e: Expression, side: Seq[Attribute]): Boolean =
    e.references.subsetOf(AttributeSet(side))

  /** The distance that ranks a probe row's matches, and the keys that it takes: both ends in each dimension. */
  private final case class Ranked(
      rank: Expression,
      build: Seq[Expression],
      probe: Seq[Expression],
      distance: RankedDistance
  ) {

    /** The dimensions, if their keys stand from this place on. */
    def extents(from: Int): Seq[Extent] =
      Seq.tabulate(distance.dimensions)(d => Extent(low = from + 2 * d, high = from + 2 * d + 1))
  }

  private val Alone = Cost(share = 0.1, perProbe = 300, perBuildRow = 400)
  private val Keyed = Alone.copy(share = 0.02)
  private val Near = Cost(share = 0.001, perProbe = 2000, perBuildRow = 400)

  /** Two are served by a sorted column and a tree over the other. */
  private val FewestBounds = 3

  /** Each is a number for each build row: of three dimensions both ends, and two more. */
  private val MostBounds = 8

  case object FewDimensions
      extends ReasonCode(
        "FEW_DIMENSIONS",
        "boxes serves comparisons between the sides in two dimensions or more, of values that " +
          "fit 64 bits",
        "Nothing to do: another accelerator serves fewer dimensions."
      )
}
