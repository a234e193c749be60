package thetajoin.functions.spatial

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{DeserializationFeature, JsonNode, ObjectMapper}
import org.locationtech.jts.geom._

/**
 * Reads geometries of GeoJSON (RFC 7946). A feature stands for its geometry. A position may have more than two numbers,
 * which are ignored.
 */
private[spatial] object GeoJson {
  private val mapper =
    new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
  private val factory = new GeometryFactory

  /** @throws IllegalArgumentException if it is none */
  def read(text: String): Geometry = geometry(mapper.readTree(text))

  private def geometry(node: JsonNode): Geometry = {
    def coordinates = member(node, "coordinates")
    member(node, "type").asText match {
      case "Point" if coordinates.isArray && coordinates.isEmpty => factory.createPoint()
      case "Point" => factory.createPoint(position(coordinates))
      case "LineString" => factory.createLineString(positions(coordinates))
      case "Polygon" => polygon(coordinates)
      case "MultiPoint" => factory.createMultiPointFromCoords(positions(coordinates))
      case "MultiLineString" =>
        factory.createMultiLineString(parts(coordinates).map(p =>
          factory.createLineString(positions(p))
        ).toArray)
      case "MultiPolygon" => factory.createMultiPolygon(parts(coordinates).map(polygon).toArray)
      case "GeometryCollection" =>
        factory.createGeometryCollection(parts(member(node, "geometries")).map(geometry).toArray)
      case "Feature" => geometry(member(node, "geometry"))
      case other => throw new IllegalArgumentException(s"'$other' is no type of a geometry")
    }
  }

  private def polygon(node: JsonNode): Polygon = {
    val rings = parts(node).map(ring => factory.createLinearRing(positions(ring)))
    if (rings.isEmpty) factory.createPolygon()
    else factory.createPolygon(rings.head, rings.tail.toArray)
  }

  private def positions(node: JsonNode): Array[Coordinate] = parts(node).map(position).toArray

  private def position(node: JsonNode): Coordinate = {
    val numbers = parts(node)
    if (numbers.size < 2 || !numbers.forall(_.isNumber))
      throw new IllegalArgumentException(s"a position is two numbers, not $node")
    new Coordinate(numbers.head.asDouble, numbers(1).asDouble)
  }

  private def parts(node: JsonNode): Seq[JsonNode] =
    if (node.isArray) node.elements.asScala.toSeq
    else throw new IllegalArgumentException(s"a list is expected in place of $node")

  private def member(node: JsonNode, name: String): JsonNode = node.get(name) match {
    case null => throw new IllegalArgumentException(s"it has no '$name'")
    case found => found
  }
}
