package thetajoin.functions.spatial

import scala.util.control.NonFatal

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.locationtech.jts.geom.{Coordinate, Geometry, GeometryFactory}
import org.locationtech.jts.io.{WKBReader, WKBWriter, WKTReader, WKTWriter}

/** A text that is not a geometry. */
final class InvalidGeometryTextException(function: String, why: String, text: String)
    extends IllegalArgumentException(
      s"[INVALID_GEOMETRY] $function can't read a geometry: $why. The text starts with '${text.take(40)}' (${text.length} " +
        s"characters). Correct the value, or use try_$function, which is NULL for it."
    )

/** A value of one geometry, or a geometry of a value. */
sealed abstract class Conversion(
    val name: String,
    val input: DataType,
    val output: DataType,
    val meaning: String
) extends Serializable {

  /** Null if there is none. It fails as it likes for what can't be read. */
  protected def convert(value: Any): Any

  final def apply(value: Any, isTry: Boolean): Any =
    try convert(value)
    catch {
      case NonFatal(_) if isTry => null
      case e: UnreadableWkb => throw new InvalidGeometryException(name, e.why, e.bytes)
      case NonFatal(e) =>
        throw value match {
          case bytes: Array[Byte] => new InvalidGeometryException(name, e.getMessage, bytes)
          case text => new InvalidGeometryTextException(name, e.getMessage, text.toString)
        }
    }
}

object Conversion {
  case object FromText
      extends Conversion(
        "st_geomfromtext",
        StringType,
        BinaryType,
        "The geometry of a well-known text, WKT or EWKT, as BINARY in well-known binary."
      ) {
    override protected def convert(value: Any): Any = {
      val text = value.toString
      val plain = (if (text.regionMatches(true, 0, "SRID=", 0, 5)) afterSrid(text) else text).trim
      require(endsOnce(plain), "a text follows the geometry")
      bytes(new WKTReader().read(plain))
    }

    /** The reader stops at the end of the geometry. */
    private def endsOnce(text: String): Boolean = {
      val depths =
        text.scanLeft(0)((depth, c) => depth + (if (c == '(') 1 else if (c == ')') -1 else 0))
      val closed = depths.indices.drop(1).find(i => depths(i) == 0 && depths(i - 1) > 0)
      closed.map(_ == text.length).getOrElse(text.toUpperCase.endsWith("EMPTY"))
    }

    private def afterSrid(text: String): String = {
      val end = text.indexOf(';')
      require(end > 5 && text.substring(5, end).forall(_.isDigit), "an SRID is a number before ';'")
      text.substring(end + 1)
    }
  }

  case object FromGeoJson
      extends Conversion(
        "st_geomfromgeojson",
        StringType,
        BinaryType,
        "The geometry of a GeoJSON text, or of its feature, as BINARY in well-known binary."
      ) {
    override protected def convert(value: Any): Any = bytes(GeoJson.read(value.toString))
  }

  case object AsText
      extends Conversion(
        "st_astext",
        BinaryType,
        StringType,
        "The well-known text of a geometry."
      ) {
    override protected def convert(value: Any): Any =
      UTF8String.fromString(new WKTWriter().write(geometry(value)))
  }

  case object X
      extends Conversion(
        "st_x",
        BinaryType,
        DoubleType,
        "The x of a point, or NULL if it is empty."
      ) {
    override protected def convert(value: Any): Any = coordinate(value)(_.minX)
  }

  case object Y
      extends Conversion(
        "st_y",
        BinaryType,
        DoubleType,
        "The y of a point, or NULL if it is empty."
      ) {
    override protected def convert(value: Any): Any = coordinate(value)(_.minY)
  }

  val all: Seq[Conversion] = Seq(FromText, FromGeoJson, AsText, X, Y)

  private def coordinate(value: Any)(of: Extremes => Double): Any = {
    val bytes = value.asInstanceOf[Array[Byte]]
    val extremes = new Extremes(bytes)
    if (extremes.kind != WkbReader.Point) throw new UnreadableWkb("it is no point", bytes)
    val number = of(extremes)
    if (number.isNaN) null else number
  }

  private[spatial] def geometry(value: Any): Geometry = {
    val bytes = value.asInstanceOf[Array[Byte]]
    // What this reader refuses, other functions refuse.
    new Extremes(bytes)
    new WKBReader().read(bytes)
  }

  /** In two dimensions. */
  private[spatial] def bytes(geometry: Geometry): Array[Byte] = new WKBWriter(2).write(geometry)

  /** A rectangle with these corners. */
  def envelope(x1: Double, y1: Double, x2: Double, y2: Double): Array[Byte] = {
    val corners = Seq((x1, y1), (x1, y2), (x2, y2), (x2, y1), (x1, y1))
    require(
      corners.forall { case (x, y) => x.isFinite && y.isFinite },
      "[INVALID_GEOMETRY] st_makeenvelope needs finite numbers"
    )
    bytes(new GeometryFactory().createPolygon(corners.map { case (x, y) =>
      new Coordinate(x, y)
    }.toArray))
  }
}
