package thetajoin.functions.spatial

import org.locationtech.jts.operation.relateng.{RelatePredicate, TopologyPredicate}

import thetajoin.condition.Operator

/**
 * How two geometries may be related, as by OGC's simple features (DE-9IM). An empty geometry has no relation to any.
 *
 * @param predicate how JTS names it
 * @param meaning a sentence for users
 */
sealed abstract class Relation(
    val name: String,
    private val predicate: () => TopologyPredicate,
    val meaning: String
) extends Serializable {

  /** The same relation of the right geometry to the left one. */
  def swapped: Relation = this

  /** The relations that must hold between the bounding boxes of related geometries. */
  private[spatial] def boxes: Seq[Relation.EndsCompared] = Relation.Meeting

  /** Whether a point that is the right geometry is so related to polygons on the left. */
  protected def ofPointIn(location: Int): Boolean = false

  /** Whether a point is so related to itself. */
  protected def ofPointToItself: Boolean = true

  private[spatial] final def holds(left: Shape, right: Shape): Boolean = {
    val boxesMeet = left.minX <= right.maxX && left.maxX >= right.minX &&
      left.minY <= right.maxY && left.maxY >= right.minY
    if (!boxesMeet) false
    else if (left.isPoint && right.isPoint) ofPointToItself
    else if (left.isArea && right.isPoint) ofPointIn(left.edges.locate(right.minX, right.minY))
    else if (left.isPoint && right.isArea)
      swapped.ofPointIn(right.edges.locate(left.minX, left.minY))
    else if (left.hasEdges && right.hasEdges) ofEdges(left, right)
    else byJts(left, right)
  }

  /** See [[RelationTest.quick]]. The box of the value meets the point. */
  private[spatial] final def ofPoint(value: Array[Byte], point: Shape, isLeft: Boolean): Int = {
    val location = RayCrossings.locate(value, point.minX, point.minY)
    if (location < 0) -1
    else if ((if (isLeft) this else swapped).ofPointIn(location)) 1
    else 0
  }

  /**
   * Of lines and areas whose boxes meet. Where no edges do, each path of one is inside of the other as a whole, or
   * outside.
   */
  protected def ofEdges(left: Shape, right: Shape): Boolean = byJts(left, right)

  protected final def byJts(left: Shape, right: Shape): Boolean =
    if (right.isReused && !left.isReused) right.relate(left, swapped.predicate())
    else left.relate(right, predicate())
}

object Relation {
  import RayCrossings.{Inside, OnEdge, Outside}

  /** An end of the left box, and how it compares with one of the right box. */
  private[spatial] type EndsCompared = (BoxEnd, Operator, BoxEnd)

  private val Meeting: Seq[EndsCompared] = Seq(
    (BoxEnd.MinX, Operator.LessOrEqual, BoxEnd.MaxX),
    (BoxEnd.MaxX, Operator.GreaterOrEqual, BoxEnd.MinX),
    (BoxEnd.MinY, Operator.LessOrEqual, BoxEnd.MaxY),
    (BoxEnd.MaxY, Operator.GreaterOrEqual, BoxEnd.MinY)
  )

  private val LeftAround: Seq[EndsCompared] = Seq(
    (BoxEnd.MinX, Operator.LessOrEqual, BoxEnd.MinX),
    (BoxEnd.MaxX, Operator.GreaterOrEqual, BoxEnd.MaxX),
    (BoxEnd.MinY, Operator.LessOrEqual, BoxEnd.MinY),
    (BoxEnd.MaxY, Operator.GreaterOrEqual, BoxEnd.MaxY)
  )

  private val RightAround: Seq[EndsCompared] =
    LeftAround.map { case (left, operator, right) => (left, operator.flipped, right) }

  /** Whether a path of one begins in the other, which may be an area. */
  private def startsIn(paths: Shape, other: Shape): Boolean =
    other.isArea && paths.edges.startIn(other.edges, all = false)

  /** Whether the first has all of the second; None if that depends on edges that meet. */
  private def areAround(outer: Shape, inner: Shape): Option[Boolean] =
    if (!outer.isArea) None
    else if (!inner.edges.startIn(outer.edges, all = true)) Some(false)
    else if (outer.edges.meet(inner.edges)) None
    else Some(!startsIn(outer, inner))

  /** The left geometry has all of the right one. */
  private[spatial] sealed trait LeftAroundRight extends Relation {
    override private[spatial] def boxes: Seq[EndsCompared] = LeftAround
    override protected def ofEdges(left: Shape, right: Shape): Boolean =
      areAround(left, right).getOrElse(byJts(left, right))
  }

  /** The other way round. */
  private[spatial] sealed trait RightAroundLeft extends Relation {
    override private[spatial] def boxes: Seq[EndsCompared] = RightAround
    override protected def ofEdges(left: Shape, right: Shape): Boolean =
      areAround(right, left).getOrElse(byJts(left, right))
  }

  case object Contains extends Relation(
        "st_contains",
        () => RelatePredicate.contains(),
        "Whether the first geometry has all points of the second, and inner points in common with it."
      ) with LeftAroundRight {
    override def swapped: Relation = Within
    override protected def ofPointIn(location: Int): Boolean = location == Inside
  }

  case object Within extends Relation(
        "st_within",
        () => RelatePredicate.within(),
        "Whether the second geometry has all points of the first, and inner points in common with it."
      ) with RightAroundLeft {
    override def swapped: Relation = Contains
  }

  case object Covers extends Relation(
        "st_covers",
        () => RelatePredicate.covers(),
        "Whether the first geometry has all points of the second."
      ) with LeftAroundRight {
    override def swapped: Relation = CoveredBy
    override protected def ofPointIn(location: Int): Boolean = location != Outside
  }

  case object CoveredBy extends Relation(
        "st_coveredby",
        () => RelatePredicate.coveredBy(),
        "Whether the second geometry has all points of the first."
      ) with RightAroundLeft {
    override def swapped: Relation = Covers
  }

  case object Intersects extends Relation(
        "st_intersects",
        () => RelatePredicate.intersects(),
        "Whether two geometries have a point in common."
      ) {
    override protected def ofPointIn(location: Int): Boolean = location != Outside
    override protected def ofEdges(left: Shape, right: Shape): Boolean =
      startsIn(right, left) || startsIn(left, right) || left.edges.meet(right.edges)
  }

  case object Touches extends Relation(
        "st_touches",
        () => RelatePredicate.touches(),
        "Whether two geometries have points in common, none of them an inner point of both."
      ) {
    override protected def ofPointIn(location: Int): Boolean = location == OnEdge
    override protected def ofEdges(left: Shape, right: Shape): Boolean =
      left.edges.meet(right.edges) && byJts(left, right)
    override protected def ofPointToItself: Boolean = false
  }

  case object Crosses extends Relation(
        "st_crosses",
        () => RelatePredicate.crosses(),
        "Whether two geometries have some inner points in common, of fewer dimensions than one of them."
      ) {
    override protected def ofPointToItself: Boolean = false
  }

  case object Overlaps extends Relation(
        "st_overlaps",
        () => RelatePredicate.overlaps(),
        "Whether two geometries of one dimension have some inner points in common, but not all, of that dimension."
      ) {
    override protected def ofPointToItself: Boolean = false
  }

  case object Equals extends Relation(
        "st_equals",
        () => RelatePredicate.equalsTopo(),
        "Whether two geometries have the same points."
      ) {
    override private[spatial] def boxes: Seq[EndsCompared] = LeftAround
    override protected def ofEdges(left: Shape, right: Shape): Boolean =
      left.edges.meet(right.edges) && byJts(left, right)
  }

  val all: Seq[Relation] = Seq(
    Contains,
    Within,
    Covers,
    CoveredBy,
    Intersects,
    Touches,
    Crosses,
    Overlaps,
    Equals
  )

  private[spatial] def of(name: String): Relation = all.find(_.name == name).get
}
