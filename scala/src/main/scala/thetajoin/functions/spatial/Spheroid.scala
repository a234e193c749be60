package thetajoin.functions.spatial

import net.sf.geographiclib.{Geodesic, GeodesicMask}

/** The earth as the ellipsoid WGS84. Longitudes and latitudes are in degrees. */
private[spatial] object Spheroid {

  /** In metres. No point is farther from the center. */
  val SemiMajor = 6378137.0

  private final val Flattening = 1 / 298.257223563
  private final val SquaredEccentricity = Flattening * (2 - Flattening)

  /** The length of the geodesic between two points in metres, to 15 nanometres. */
  def distance(
      longitude: Double,
      latitude: Double,
      otherLongitude: Double,
      otherLatitude: Double
  ): Double =
    Geodesic.WGS84
      .Inverse(latitude, longitude, otherLatitude, otherLongitude, GeodesicMask.DISTANCE)
      .s12

  /**
   * A coordinate of a point in space, in metres from the center: 0 and 1 are the axes of the equator, and the poles
   * are at both ends of axis 2. The straight line between two points is not longer than their geodesic.
   */
  def coordinate(longitude: Double, latitude: Double, axis: Int): Double = {
    val north = math.toRadians(latitude)
    val sine = math.sin(north)
    val radius = SemiMajor / math.sqrt(1 - SquaredEccentricity * sine * sine)
    if (axis == 2) radius * (1 - SquaredEccentricity) * sine
    else {
      val east = math.toRadians(
        if (math.abs(longitude) <= 180) longitude else math.IEEEremainder(longitude, 360)
      )
      radius * math.cos(north) * (if (axis == 0) math.cos(east) else math.sin(east))
    }
  }

  /** Why a geometry that is not empty is no point of longitude and latitude. */
  def fault(isPoint: Boolean, latitude: Double): Option[String] =
    if (!isPoint) Some("it is no point")
    else if (math.abs(latitude) > 90) Some(s"its latitude $latitude is not from -90 to 90")
    else None
}
