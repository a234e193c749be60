package thetajoin.functions.spatial

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, LessThanOrEqual}
import org.apache.spark.sql.types._

import thetajoin.functions.SqlFunction.{Description, description}

/** Geometries that can't be compared, as their types tell. */
final class IncompatibleGeometriesException(
    function: String,
    left: DataType,
    right: DataType,
    remedy: String
) extends IllegalArgumentException(
      s"[INCOMPATIBLE_GEOMETRIES] $function compares geometries of one coordinate system, but they are of types " +
        s"${left.sql} and ${right.sql}. $remedy"
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
    type Way = (Expression, Expression) => Expression
    val inPlane: Way = StDistance(_, _, isTry)
    val onSphere: Way = StGlobeDistance(_, _, Globe.Sphere, isTry)
    val onSpheroid: Way = StGlobeDistance(_, _, Globe.Spheroid, isTry)
    def areOnGlobe(l: Expression, r: Expression) = Seq(l, r).exists(e => isGeography(e.dataType))
    def usual(l: Expression, r: Expression) = if (areOnGlobe(l, r)) onSpheroid else inPlane
    def distance(function: String, l: Expression, r: Expression, way: Way) =
      way.tupled(binaries(prefix + function, l, r, areOnGlobe = true))
    Seq(
      description[StDistance](
        s"${prefix}st_distance",
        "geometry1, geometry2",
        "The shortest distance between two geometries in the plane, in the unit of their coordinates. Of GEOGRAPHY, " +
          s"the distance on the ellipsoid WGS84 in metres.$otherwise"
      ) { case Seq(l, r) => distance("st_distance", l, r, usual(l, r)) },
      description[StDistance](
        s"${prefix}st_dwithin",
        "geometry1, geometry2, distance[, useSpheroid]",
        "Whether two geometries are no farther from each other than this. If useSpheroid is true, they are points of " +
          "longitude and latitude on the ellipsoid WGS84, and the distance is in metres. If it is false, it is in the " +
          s"plane, or of GEOGRAPHY on a sphere.$otherwise"
      ) {
        case Seq(l, r, most) =>
          LessThanOrEqual(distance("st_dwithin", l, r, usual(l, r)), most)
        case Seq(l, r, most, useSpheroid) =>
          val way =
            if (constant(s"${prefix}st_dwithin", useSpheroid)) onSpheroid
            else if (areOnGlobe(l, r)) onSphere
            else inPlane
          LessThanOrEqual(distance("st_dwithin", l, r, way), most)
      },
      description[StGlobeDistance](
        s"${prefix}st_distancesphere",
        "point1, point2",
        "The distance of two points of longitude and latitude in metres, on a sphere of radius " +
          s"${Globe.Sphere.radius}.$otherwise"
      ) { case Seq(l, r) => distance("st_distancesphere", l, r, onSphere) },
      description[StGlobeDistance](
        s"${prefix}st_distancespheroid",
        "point1, point2",
        s"The distance of two points of longitude and latitude in metres, on the ellipsoid WGS84.$otherwise"
      ) { case Seq(l, r) => distance("st_distancespheroid", l, r, onSpheroid) }
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
        val input =
          if (conversion.input == BinaryType) binary(value, isOnGlobe = true) else text(value)
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

  private def constant(function: String, flag: Expression): Boolean =
    Option.when(flag.foldable && flag.dataType == BooleanType)(flag.eval()) match {
      case Some(value: Boolean) => value
      case _ =>
        throw new IllegalArgumentException(
          s"[NON_CONSTANT_FLAG] $function takes TRUE or FALSE as useSpheroid, but it is ${flag.sql}."
        )
    }

  private def text(e: Expression): Expression =
    if (e.dataType == NullType) Cast(e, StringType) else e

  private def binaries(
      function: String,
      l: Expression,
      r: Expression,
      areOnGlobe: Boolean = false
  ): (Expression, Expression) = {
    val types = Seq(l, r).map(_.dataType).filter(t => isGeometry(t) || isGeography(t))
    def refuse(remedy: String) =
      throw new IncompatibleGeometriesException(function, l.dataType, r.dataType, remedy)
    if (types.exists(isGeometry) && types.exists(isGeography))
      refuse(
        "Make both GEOMETRY or both GEOGRAPHY, by st_geomfromwkb or st_geogfromwkb of st_asbinary(..)."
      )
    if (types.distinct.size > 1 && !types.exists(_.typeName.contains("any")))
      refuse("Transform one of them, or set its SRID by st_setsrid if it is wrong.")
    (binary(l, areOnGlobe), binary(r, areOnGlobe))
  }

  /** A geometry in well-known binary. Other expressions stay as they are, and the function refuses them. */
  private def binary(e: Expression, isOnGlobe: Boolean = false): Expression = e.dataType match {
    case NullType => Cast(e, BinaryType)
    case t if isGeometry(t) || isOnGlobe && isGeography(t) =>
      FunctionRegistry.builtin.lookupFunction(FunctionIdentifier("st_asbinary"), Seq(e))
    case _ => e
  }

  private def double(e: Expression): Expression = e.dataType match {
    case _: NumericType | NullType if e.dataType != DoubleType => Cast(e, DoubleType)
    case _ => e
  }

  /** Spark's own types, which the oldest Spark lacks. */
  private def isGeometry(t: DataType): Boolean = t.typeName.startsWith("geometry")
  private def isGeography(t: DataType): Boolean = t.typeName.startsWith("geography")
}
