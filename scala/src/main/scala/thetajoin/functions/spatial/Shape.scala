package thetajoin.functions.spatial

import org.locationtech.jts.geom.Geometry
import org.locationtech.jts.io.{ParseException, WKBReader}
import org.locationtech.jts.operation.distance.DistanceOp
import org.locationtech.jts.operation.relateng.{RelateNG, TopologyPredicate}

/**
 * A geometry with its bounding box. The other structures that a test needs are made at the first use and kept. Tasks
 * share it.
 *
 * @param bytes well-known binary that can be read
 * @param isReused whether many others will be tested against it
 */
private[spatial] final class Shape private (
    bytes: Array[Byte],
    extremes: Extremes,
    val isReused: Boolean
) {
  val minX: Double = extremes.minX
  val minY: Double = extremes.minY
  val maxX: Double = extremes.maxX
  val maxY: Double = extremes.maxY

  def isEmpty: Boolean = minX.isNaN

  val isPoint: Boolean = extremes.kind == WkbReader.Point

  /** Whether it is of polygons. */
  val isArea: Boolean =
    extremes.kind == WkbReader.Polygon || extremes.kind == WkbReader.MultiPolygon

  /** Whether it is of lines, or an area. */
  val hasEdges: Boolean =
    isArea || extremes.kind == WkbReader.Line || extremes.kind == WkbReader.MultiLine

  @volatile private var flat: Edges = _
  @volatile private var geometry: Geometry = _
  private var prepared: RelateNG = _

  /** Of lines and polygons. */
  def edges: Edges = {
    if (flat == null) flat = Edges(bytes, areRings = isArea)
    flat
  }

  /** Whether this and the other geometry are so related. */
  def relate(other: Shape, predicate: TopologyPredicate): Boolean = {
    val otherGeometry = other.parsed
    // The structures that JTS prepares are changed by their use.
    synchronized {
      if (prepared == null) prepared = RelateNG.prepare(parsed)
      prepared.evaluate(otherGeometry, predicate)
    }
  }

  /** In the unit of the coordinates. Neither is empty. */
  def distance(other: Shape): Double =
    if (isPoint && other.isPoint) math.hypot(minX - other.minX, minY - other.minY)
    else DistanceOp.distance(parsed, other.parsed)

  /** The error of a function that does not take it. */
  def unreadable(why: String): Nothing = throw new UnreadableWkb(why, bytes)

  private def parsed: Geometry = {
    if (geometry == null)
      try geometry = new WKBReader().read(bytes)
      catch {
        case e @ (_: ParseException | _: IllegalArgumentException) =>
          unreadable(e.getMessage)
      }
    geometry
  }
}

private[spatial] object Shape {

  /** @throws UnreadableWkb if it can't be read */
  def apply(bytes: Array[Byte], isReused: Boolean): Shape =
    new Shape(bytes, new Extremes(bytes), isReused)
}
