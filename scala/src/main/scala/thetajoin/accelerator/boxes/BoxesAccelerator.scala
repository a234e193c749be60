package thetajoin.accelerator.boxes

import thetajoin.contract.{Accelerator, Cost, JoinRequest, Offer}
import thetajoin.kit.{Bound, EqualKeys}
import thetajoin.reason.{Reason, ReasonCode}

/**
 * Three comparisons between the sides or more, perhaps beside equal keys: a point in a box, boxes that overlap, a box in a box, points
 * that are near each other.
 *
 * {{{
 *   a.x BETWEEN b.x1 AND b.x2 AND a.y BETWEEN b.y1 AND b.y2
 *   a.x1 <= b.x2 AND b.x1 <= a.x2 AND a.y1 <= b.y2 AND b.y1 <= a.y2
 *   (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) <= 25
 * }}}
 *
 * Build rows are the leaves of a packed R-tree: rows that are near each other in all dimensions lie next to each other, and of
 * every 16 of them, every 256 and so on the outermost ends are known.
 */
object BoxesAccelerator extends Accelerator {
  override val id: String = "boxes"

  override val summary: String =
    "Three or more comparisons between the sides (points in boxes, boxes that overlap, points near each other), perhaps beside " +
      "equal keys: a probe walks down a packed R-tree."

  override def reasons: Seq[ReasonCode] = Seq(FewDimensions)

  override def wireClasses: Seq[Class[_]] =
    Seq(
      classOf[Boxes],
      classOf[BoundTree],
      classOf[Rounding],
      classOf[Array[Rounding]],
      classOf[Array[Array[Int]]]
    )

  override def offer(request: JoinRequest): Either[Reason, Offer] =
    EqualKeys.of(request.shape, request.buildSide).flatMap { equal =>
      // A row whose key fails meets all rows, which may be each row: only where there is nothing else to index.
      val plain = request.shape.plainComparisons
      val isAlone = equal.sources.isEmpty && plain.size < 2
      val comparisons = if (isAlone) request.shape.comparisons else plain
      val bounds = comparisons.flatMap(Bound.of(_, request.buildSide)).take(MostBounds)
      val extents = Extent.of(bounds.toIndexedSeq)
      if (bounds.size < FewestBounds) Left(FewDimensions(s"${bounds.size} comparisons"))
      else if (isInterval(bounds, extents)) Left(FewDimensions("one"))
      else Right(offer(equal, bounds, extents))
    }

  /** One dimension is bounded from both ends for sure: a sorted column and a tree over another leave as few rows sooner. */
  private def isInterval(bounds: Seq[Bound], extents: Seq[Extent]): Boolean =
    extents.filterNot(_.isHalf) match {
      case Seq(extent) => Extent.isOne(bounds(extent.low), bounds(extent.high))
      case _ => false
    }

  private def offer(equal: EqualKeys, bounds: Seq[Bound], extents: Seq[Extent]): Offer = {
    val served = equal.sources ++ bounds.map(_.source).distinct
    val (build, probe) = bounds.map(_.ascending).unzip
    Offer(
      served,
      // A row with a key that fails is a candidate of every row, and must then be checked in all that the index serves.
      exact = if (!equal.canFail && bounds.forall(_.exact)) served else Nil,
      buildKeys = equal.build ++ build,
      probeKeys = equal.probe ++ probe,
      BoxesSpec(equal.build.size, bounds.map(_.strict), extents),
      cost = Cost(if (equal.sources.isEmpty) 0.1 else 0.02, perProbe = 300, perBuildRow = 400)
    )
  }

  /** Two are served by a sorted column and a tree over the other. */
  private val FewestBounds = 3

  /** Each is a number for each build row: of three dimensions both ends, and two more. */
  private val MostBounds = 8

  case object FewDimensions
      extends ReasonCode(
        "FEW_DIMENSIONS",
        "Boxes take comparisons between the sides in two dimensions or more, of values that fit 64 bits",
        "Nothing to do: another accelerator takes fewer."
      )
}
