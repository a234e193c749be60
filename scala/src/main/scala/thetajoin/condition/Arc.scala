package thetajoin.condition

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DoubleType

import thetajoin.condition.Waves.{Turn, Wave}

/**
 * The distance of two points on a sphere, in whatever way it is written:
 *
 * {{{
 *   12742 * asin(sqrt(h))                          h = pow(sin((a.lat - b.lat) / 2), 2) +
 *   6371 * 2 * atan2(sqrt(h), sqrt(1 - h))             cos(a.lat) * cos(b.lat) * pow(sin((a.lon - b.lon) / 2), 2)
 *   6371 * acos(c)                                 c = 1 - 2 * h
 *   6371 * atan2(sqrt(1 - c * c), c)               Vincenty's form
 * }}}
 *
 * @param radius the distance of an angle of one radian
 * @param latitudes of both points
 * @param longitudes of both points, in any order: the distance is the same the other way round
 * @param ifNull the angle if a latitude or longitude is null, where `least` or `greatest` gives one
 * @param ifNaN the same if one is NaN
 */
private[condition] final case class Arc(
    radius: Double,
    latitudes: (Turn, Turn),
    longitudes: (Turn, Turn),
    ifNull: Option[Double],
    ifNaN: Option[Double]
) {

  /** Both ways to give each point its longitude. Only one of them has a point on each side of a join. */
  def points: Seq[(Place, Place)] = {
    val ((lat, otherLat), (lon, otherLon)) = (latitudes, longitudes)
    Seq((lon, otherLon), (otherLon, lon)).map { case (x, y) =>
      (Place(lat, x, ifNull, ifNaN), Place(otherLat, y, ifNull, ifNaN))
    }
  }
}

/** A point on a sphere. */
private[condition] final case class Place(
    latitude: Turn,
    longitude: Turn,
    ifNull: Option[Double],
    ifNaN: Option[Double]
) {

  /** In space, on the sphere of radius 1: what each coordinate is at the least and at the most. */
  def spans: Seq[Span] = Seq(0, 1, 2).map(axis => Span(coordinate(axis, -1), coordinate(axis, 1)))

  private def coordinate(axis: Int, sign: Int): Expression = {
    val known = SphereCoordinate(
      latitude.radians,
      longitude.radians,
      axis,
      infinity = sign * Double.PositiveInfinity
    )
    def or(e: Expression, angle: Option[Double])(choice: (Expression, Expression) => Expression) =
      angle.fold(e)(a => choice(e, Literal(-sign * Arc.leastEnd(a))))
    or(or(known, ifNaN)(NaNvl(_, _)), ifNull)((e, end) => Coalesce(Seq(e, end)))
  }
}

private[condition] object Arc {

  /** An angle that is written may differ by this many radians from the angle between the points in space. */
  val Slack = 2e-6

  /**
   * In place of the least coordinate of a point that is missing, and negated of the greatest: it is apart by this
   * angle at most from all points, whose coordinates are from -1 to 1, and from others that are missing.
   */
  def leastEnd(angle: Double): Double = math.min(angle - 1, angle / 2)

  def unapply(distance: Expression): Option[Arc] = of(distance, 1.0)

  private def of(e: Expression, factor: Double): Option[Arc] = e match {
    case Multiply(NumberForms.Constant(c), x, _) => of(x, factor * c)
    case Multiply(x, NumberForms.Constant(c), _) => of(x, factor * c)
    case Divide(x, NumberForms.Constant(c), _) => of(x, factor / c)
    case ToDegrees(x) => of(x, factor * (180 / math.Pi))
    case _ if !(factor > 0) || factor.isInfinite => None
    case angle =>
      val readers = Seq(true, false).iterator.map(new Waves.Reader(_))
      readers.flatMap(new Reading(_).of(angle, factor)).nextOption().flatMap { arc =>
        def ifAll(value: Any) =
          angleOf(ofParts(angle, Literal.create(value, DoubleType))).map(_ * factor / arc.radius)
        val (ifNull, ifNaN) = (ifAll(null), ifAll(Double.NaN))
        if ((ifNull ++ ifNaN).forall(a => a <= 0 || a > math.Pi - Slack))
          Some(arc.copy(ifNull = ifNull, ifNaN = ifNaN))
        else None
      }
  }

  /** The angle if all sums of sines and cosines have this value. */
  private def ofParts(angle: Expression, value: Literal): Expression = angle match {
    case _ if angle.references.isEmpty => angle
    case _: Least | _: Greatest | _: Sqrt | _: Asin | _: Acos | _: Atan2 |
        Pow(_, NumberForms.Constant(0.5)) | NumberForms.Weighted(_, _) =>
      angle.mapChildren(ofParts(_, value))
    case _ => value
  }

  private def angleOf(e: Expression): Option[Double] =
    Try(e.eval()).toOption.collect { case a: Double if !a.isNaN => a }

  private final class Reading(reader: Waves.Reader) {
    def of(angle: Expression, factor: Double): Option[Arc] = angle match {
      case Asin(Within(x)) => rooted(x).flatMap(square => between(square, factor / 2))
      case Acos(Within(x)) => reader.read(x).flatMap(cosine => ofCosine(cosine, factor))
      case Atan2(Root(x), Root(y)) =>
        for {
          square <- reader.read(x)
          rest <- reader.read(y)
          if (square + rest - Waves.one).isZero
          arc <- between(square, factor / 2)
        } yield arc
      case Atan2(Root(x), y) =>
        for {
          square <- reader.read(x)
          cosine <- reader.read(y)
          if reader.reduced(square + cosine * cosine - Waves.one).isZero
          arc <- ofCosine(cosine, factor)
        } yield arc
      case _ => None
    }

    /** The square of a root, perhaps times a constant. */
    private def rooted(e: Expression): Option[Waves] = e match {
      case Root(x) => reader.read(x)
      case NumberForms.Weighted(weight, x) if weight > 0 => rooted(x).map(_ * (weight * weight))
      case _ => None
    }

    /** Of the square of half a chord. */
    private def between(square: Waves, radius: Double): Option[Arc] =
      ofCosine(Waves.one - square * 2, radius)

    private def ofCosine(cosine: Waves, radius: Double): Option[Arc] =
      for {
        latitudes <- turns(cosine, waves = 2)
        longitudes <- turns(cosine, waves = 4)
        arc = Arc(radius, latitudes, longitudes, ifNull = None, ifNaN = None)
        if (cosine - expected(arc)).isZero
      } yield arc
  }

  /** The angles of both sines in the product of so many waves. */
  private def turns(cosine: Waves, waves: Int): Option[(Turn, Turn)] =
    cosine.terms.keys.filter(_.size == waves).map(_.keys.filter(_.isSine).toSeq).collectFirst {
      case Seq(Wave(_, x), Wave(_, y)) if x.size == 1 && y.size == 1 => (x.keys.head, y.keys.head)
    }

  /** The cosine of the angle between two points. */
  private def expected(arc: Arc): Waves = {
    def sine(turn: Turn) = Wave(isSine = true, Map(turn -> 1))
    def cosine(turn: Turn) = Wave(isSine = false, Map(turn -> 1))
    val ((lat, otherLat), (lon, otherLon)) = (arc.latitudes, arc.longitudes)
    val flat = Waves.of(cosine(lat), cosine(otherLat))
    val around =
      Waves.of(cosine(lon), cosine(otherLon)) + Waves.of(sine(lon), sine(otherLon))
    Waves.of(sine(lat), sine(otherLat)) + flat * around
  }

  /** A root. Its argument may be kept from being negative, or above one. */
  private object Root {
    def unapply(e: Expression): Option[Expression] = e match {
      case Sqrt(x) => Some(kept(x, 0.0))
      case Pow(x, NumberForms.Constant(0.5)) => Some(kept(x, 0.0))
      case Within(x) if !(x eq e) => unapply(x)
      case _ => None
    }
  }

  /** A value that may be kept from -1 to 1, where it is but for rounding. */
  private object Within {
    def unapply(e: Expression): Some[Expression] = Some(kept(e, -1.0))
  }

  @scala.annotation.tailrec
  private def kept(e: Expression, least: Double): Expression = e match {
    case Least(Seq(NumberForms.Constant(c), x)) if c >= 1 => kept(x, least)
    case Least(Seq(x, NumberForms.Constant(c))) if c >= 1 => kept(x, least)
    case Greatest(Seq(NumberForms.Constant(c), x)) if c <= least => kept(x, least)
    case Greatest(Seq(x, NumberForms.Constant(c))) if c <= least => kept(x, least)
    case other => other
  }
}
