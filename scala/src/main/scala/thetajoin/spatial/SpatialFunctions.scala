package thetajoin.spatial

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry.FunctionBuilder
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, ExpressionInfo, LessThanOrEqual}
import org.apache.spark.sql.types._

/** Geometries that can't be compared, as their types tell. */
final class IncompatibleGeometriesException(function: String, left: DataType, right: DataType)
    extends IllegalArgumentException(
      s"[INCOMPATIBLE_GEOMETRIES] $function compares geometries of one coordinate system, but they are of types " +
        s"${left.sql} and ${right.sql}. Transform one of them, or set its SRID by st_setsrid if it is wrong."
    )

/** The functions of geometries that SQL gets: those that Spark itself lacks. */
object SpatialFunctions {

  type Description = (FunctionIdentifier, ExpressionInfo, FunctionBuilder)

  def descriptions: Seq[Description] =
    all.filterNot { case (name, _, _) => FunctionRegistry.builtin.functionExists(name) }

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
      ) { case Seq(l, r, most) => LessThanOrEqual(distance(l, r), most) }
    )
  }

  private val point: Description = description[StPoint](
    "st_point",
    "x, y",
    "A point as BINARY in well-known binary. st_point(NaN, NaN) is the empty point."
  ) { case Seq(x, y) => StPoint(double(x), double(y)) }

  private val all: Seq[Description] = relations ++ distances :+ point

  private def description[E](name: String, arguments: String, meaning: String)(
      make: PartialFunction[Seq[Expression], Expression]
  )(implicit of: reflect.ClassTag[E]): Description = {
    val taken = arguments.split(", ").length
    val info = new ExpressionInfo(
      of.runtimeClass.getName,
      null,
      name,
      s"_FUNC_($arguments) - $meaning",
      "",
      "",
      "",
      "misc_funcs",
      "0.1.0",
      "",
      "built-in"
    )
    def build(passed: Seq[Expression]) =
      make.applyOrElse(passed, (_: Seq[Expression]) => throw wrongNumber(name, taken, passed.size))
    (FunctionIdentifier(name), info, build)
  }

  private def wrongNumber(name: String, taken: Int, passed: Int) =
    new AnalysisException(
      "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
      Map(
        "functionName" -> s"`$name`",
        "expectedNum" -> taken.toString,
        "actualNum" -> passed.toString,
        "docroot" -> "https://spark.apache.org/docs/latest"
      )
    )

  private def binaries(function: String, l: Expression, r: Expression): (Expression, Expression) = {
    val systems = Seq(l, r).map(_.dataType).filter(isGeometry).map(_.typeName)
    if (systems.distinct.size > 1 && !systems.exists(_.contains("any")))
      throw new IncompatibleGeometriesException(function, l.dataType, r.dataType)
    (binary(l), binary(r))
  }

  /** A geometry in well-known binary; what else there is stays as it is, and is refused by the expression. */
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
