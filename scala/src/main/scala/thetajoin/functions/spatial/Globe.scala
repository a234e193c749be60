package thetajoin.functions.spatial

import net.sf.geographiclib.{Geodesic, GeodesicMask}

/**
 * A shape of the earth. Longitudes and latitudes are in degrees, distances in metres.
 *
 * @param function computes the distance of two points on it
 * @param radius no point is farther from the center
 */
sealed abstract class Globe(val function: String, val radius: Double) extends Serializable {
  protected def squaredEccentricity: Double

  /** The length of the shortest way between two points. */
  def distance(
      longitude: Double,
      latitude: Double,
      otherLongitude: Double,
      otherLatitude: Double
  ): Double

  /**
   * A coordinate of a point in space, from the center: 0 and 1 are the axes of the equator, and the poles are at both
   * ends of axis 2. The straight line between two points is not longer than the way between them.
   */
  final def coordinate(longitude: Double, latitude: Double, axis: Int): Double = {
    val north = math.toRadians(latitude)
    val sine = math.sin(north)
    val ofCurve = radius / math.sqrt(1 - squaredEccentricity * sine * sine)
    if (axis == 2) ofCurve * (1 - squaredEccentricity) * sine
    else {
      val east = math.toRadians(Globe.once(longitude))
      ofCurve * math.cos(north) * (if (axis == 0) math.cos(east) else math.sin(east))
    }
  }
}

object Globe {

  /** The radius is the mean of the axes (IUGG), as in PostGIS. */
  case object Sphere extends Globe("st_distancesphere", 6371008.7714150598) {
    override protected def squaredEccentricity: Double = 0.0

    /** By the haversine formula. */
    override def distance(
        longitude: Double,
        latitude: Double,
        otherLongitude: Double,
        otherLatitude: Double
    ): Double = {
      def squaredSine(degrees: Double) = {
        val sine = math.sin(math.toRadians(degrees) * 0.5)
        sine * sine
      }
      def cosine(degrees: Double) = math.cos(math.toRadians(degrees))
      val ofLongitudes = squaredSine(once(otherLongitude) - once(longitude))
      val haversine = squaredSine(otherLatitude - latitude) +
        cosine(latitude) * cosine(otherLatitude) * ofLongitudes
      2 * radius * math.asin(math.sqrt(math.min(1.0, haversine)))
    }
  }

  /** WGS84. Distances are exact to 15 nanometres. */
  case object Spheroid extends Globe("st_distancespheroid", 6378137.0) {
    private final val Flattening = 1 / 298.257223563
    override protected def squaredEccentricity: Double = Flattening * (2 - Flattening)

    override def distance(
        longitude: Double,
        latitude: Double,
        otherLongitude: Double,
        otherLatitude: Double
    ): Double =
      Geodesic.WGS84
        .Inverse(latitude, longitude, otherLatitude, otherLongitude, GeodesicMask.DISTANCE)
        .s12
  }

  /** A longitude from -180 to 180. */
  private def once(longitude: Double): Double =
    if (math.abs(longitude) <= 180) longitude else math.IEEEremainder(longitude, 360)

  /** Why a geometry that is not empty is no point of longitude and latitude. */
  def fault(isPoint: Boolean, latitude: Double): Option[String] =
    if (!isPoint) Some("it is no point")
    else if (math.abs(latitude) > 90) Some(s"its latitude $latitude is not from -90 to 90")
    else None
}
