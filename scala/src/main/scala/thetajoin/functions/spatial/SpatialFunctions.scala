package thetajoin.functions.spatial

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, LessThanOrEqual}
import org.apache.spark.sql.types._

import thetajoin.functions.SqlFunction.{Description, description}

/** Geometries that can't be compared, as their types tell. */
final class IncompatibleGeometriesException(function: String, left: DataType, right: DataType)
    extends IllegalArgumentException(
      s"[INCOMPATIBLE_GEOMETRIES] $function compares geometries of one coordinate system, but they are of types " +
        s"${left.sql} and ${right.sql}. Transform one of them, or set its SRID by st_setsrid if it is wrong."
    )

/** The functions of geometries that SQL gets. */
object SpatialFunctions {

  def descriptions: Seq[Description] = relations ++ distances ++ conversions ++ shapes

  private val relations: Seq[Description] = for {
    relation <- Relation.all
    isTry <- Seq(false, true)
  } yield {
    val prefix = if (isTry) "try_" else ""
    val otherwise = if (isTry) " NULL if one of them can't be read." else ""
    description[StRelate](
      prefix + relation.name,
      "geometry1, geometry2",
      s"${relation.meaning}$otherwise"
    ) {
      case Seq(l, r) =>
        val (left, right) = binaries(prefix + relation.name, l, r)
        StRelate(left, right, relation, isTry)
    }
  }

  private val distances: Seq[Description] = Seq(false, true).flatMap { isTry =>
    val prefix = if (isTry) "try_" else ""
    val otherwise = " NULL if one of them is empty" + (if (isTry) " or can't be read." else ".")
    def distance(l: Expression, r: Expression) = {
      val (left, right) = binaries(s"${prefix}st_distance", l, r)
      StDistance(left, right, isTry)
    }
    Seq(
      description[StDistance](
        s"${prefix}st_distance",
        "geometry1, geometry2",
        s"The shortest distance between two geometries in the plane, in the unit of their coordinates.$otherwise"
      ) { case Seq(l, r) => distance(l, r) },
      description[StDistance](
        s"${prefix}st_dwithin",
        "geometry1, geometry2, distance",
        s"Whether two geometries are no farther from each other than this.$otherwise"
      ) { case Seq(l, r, most) => LessThanOrEqual(distance(l, r), most) },
      description[StConvert](
        s"${prefix}st_distancesphere",
        "point1, point2",
        "The distance of two points of longitude and latitude in metres, on a sphere of radius " +
          s"${SphereDistance.Radius}.$otherwise"
      ) { case Seq(l, r) =>
        val (left, right) = binaries(s"${prefix}st_distancesphere", l, r)
        SphereDistance(left, right, isTry)
      }
    )
  }

  private val conversions: Seq[Description] = for {
    conversion <- Conversion.all
    isTry <- Seq(false, true)
  } yield {
    val prefix = if (isTry) "try_" else ""
    val otherwise = if (isTry) " NULL if it can't be read." else ""
    val argument = if (conversion.input == StringType) "text" else "geometry"
    description[StConvert](
      prefix + conversion.name,
      argument,
      s"${conversion.meaning}$otherwise"
    ) {
      case Seq(value) =>
        val input = if (conversion.input == BinaryType) binary(value) else text(value)
        StConvert(input, conversion, isTry)
    }
  }

  private val shapes: Seq[Description] = Seq(
    description[StPoint](
      "st_point",
      "x, y",
      "A point as BINARY in well-known binary. st_point(NaN, NaN) is the empty point."
    ) { case Seq(x, y) => StPoint(double(x), double(y)) },
    description[StBuffer](
      "st_buffer",
      "geometry, distance",
      "The points that are no farther from a geometry than this, about, as BINARY in well-known binary."
    ) { case Seq(geometry, distance) => StBuffer(binary(geometry), double(distance)) },
    description[StMakeEnvelope](
      "st_makeenvelope",
      "x1, y1, x2, y2",
      "A rectangle between two corners as BINARY in well-known binary."
    ) { case corners if corners.size == 4 => StMakeEnvelope(corners.map(double)) }
  )

  private def text(e: Expression): Expression =
    if (e.dataType == NullType) Cast(e, StringType) else e

  private def binaries(function: String, l: Expression, r: Expression): (Expression, Expression) = {
    val systems = Seq(l, r).map(_.dataType).filter(isGeometry).map(_.typeName)
    if (systems.distinct.size > 1 && !systems.exists(_.contains("any")))
      throw new IncompatibleGeometriesException(function, l.dataType, r.dataType)
    (binary(l), binary(r))
  }

  /** A geometry in well-known binary. Other expressions stay as they are, and the function refuses them. */
  private def binary(e: Expression): Expression = e.dataType match {
    case NullType => Cast(e, BinaryType)
    case t if isGeometry(t) =>
      FunctionRegistry.builtin.lookupFunction(FunctionIdentifier("st_asbinary"), Seq(e))
    case _ => e
  }

  private def double(e: Expression): Expression = e.dataType match {
    case _: NumericType | NullType if e.dataType != DoubleType => Cast(e, DoubleType)
    case _ => e
  }

  /** Spark's own type, which the oldest Spark lacks. */
  private def isGeometry(t: DataType): Boolean = t.typeName.startsWith("geometry")
}
