package thetajoin.functions.spatial

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  BinaryExpression,
  Expression,
  Literal,
  Predicate
}
import org.apache.spark.sql.types._

import thetajoin.condition.{
  Distance,
  ImpliesComparisons,
  Operator,
  PairTest,
  PairTested,
  Span
}

/**
 * A function of two geometries in well-known binary. It is null if one of them is, and in its `try_` form where one
 * can't be read.
 */
sealed abstract class OfGeometries extends BinaryExpression {

  /** Its name without `try_`. */
  def name: String
  def isTry: Boolean

  override def prettyName: String = if (isTry) s"try_$name" else name
  override def nullIntolerant: Boolean = true
  override protected def stringArgs: Iterator[Any] = children.iterator

  override def checkInputDataTypes(): TypeCheckResult =
    children.zipWithIndex.collectFirst {
      case (child, i) if child.dataType != BinaryType =>
        TypeCheckResult.TypeCheckFailure(
          s"$prettyName takes geometries as BINARY in well-known binary, or as GEOMETRY, but argument ${i + 1} is of " +
            s"type ${child.dataType.sql}." + StFunctions.remedy(child.dataType)
        )
    }.getOrElse(TypeCheckResult.TypeCheckSuccess)

  /** The value for two geometries, null included. */
  private[spatial] def of(left: Shape, right: Shape): Any

  protected final override def nullSafeEval(left: Any, right: Any): Any =
    evaluation.of(left.asInstanceOf[Array[Byte]], right.asInstanceOf[Array[Byte]])

  /** For one thread. */
  private[spatial] final def evaluation: Evaluation = new Evaluation(this)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val function = ctx.addReferenceObj("function", this)
    val evaluation = ctx.addMutableState(
      classOf[Evaluation].getName,
      "geometries",
      v => s"$v = new ${classOf[Evaluation].getName}($function);"
    )
    val boxed = ctx.freshName("boxed")
    val box = if (dataType == BooleanType) "Boolean" else "Double"
    val setNull = if (nullable) s"if ($boxed == null) ${ev.isNull} = true; else " else ""
    nullSafeCodeGen(
      ctx,
      ev,
      (left, right) =>
        s"""
           |Object $boxed = $evaluation.of($left, $right);
           |$setNull${ev.value} = ($box) $boxed;""".stripMargin
    )
  }
}

/** Keeps the last two geometries, since a value is often compared with many. For one thread. */
final class Evaluation(function: OfGeometries) {
  private var left: Array[Byte] = _
  private var right: Array[Byte] = _
  private var leftShape: Shape = _
  private var rightShape: Shape = _

  /** The function's value for these. */
  def of(leftBytes: Array[Byte], rightBytes: Array[Byte]): Any = {
    if (leftBytes ne left) {
      leftShape = StFunctions.read(leftBytes, isReused = false, function.name, function.isTry)
      left = leftBytes
    }
    if (rightBytes ne right) {
      rightShape = StFunctions.read(rightBytes, isReused = false, function.name, function.isTry)
      right = rightBytes
    }
    if (leftShape == null || rightShape == null) null
    else
      StFunctions.readable[Any](function.name, function.isTry, ifNot = null) {
        function.of(leftShape, rightShape)
      }
  }
}

/** Whether two geometries are related. */
final case class StRelate(left: Expression, right: Expression, relation: Relation, isTry: Boolean)
    extends OfGeometries
    with Predicate
    with ImpliesComparisons
    with PairTested {
  override def name: String = relation.name
  override def nullable: Boolean = isTry || left.nullable || right.nullable

  override private[spatial] def of(left: Shape, right: Shape): Any = relation.holds(left, right)

  override def implied: Seq[(Expression, Operator, Expression)] =
    relation.boxes.map { case (leftEnd, operator, rightEnd) =>
      (StBoxEnd.of(left, leftEnd, isTry), operator, StBoxEnd.of(right, rightEnd, isTry))
    }

  override def test: PairTest = RelationTest(relation.name, isTry)

  override protected def withNewChildrenInternal(left: Expression, right: Expression): StRelate =
    copy(left = left, right = right)
}

/** @param name of the relation */
private[thetajoin] final case class RelationTest(name: String, isTry: Boolean) extends PairTest {
  @transient private lazy val relation = Relation.of(name)

  override def cannotFail: Boolean = isTry

  override def prepare(value: Array[Byte], isLeft: Boolean, isReused: Boolean): AnyRef =
    StFunctions.read(value, isReused, name, isTry)

  override def quick(value: Array[Byte], other: AnyRef, isLeft: Boolean): Int = other match {
    case point: Shape if point.isPoint && !point.isEmpty => relation.ofPoint(value, point, isLeft)
    case _ => -1
  }

  override def holds(left: AnyRef, right: AnyRef): Boolean =
    left != null && right != null && StFunctions.readable(name, isTry, ifNot = false) {
      relation.holds(left.asInstanceOf[Shape], right.asInstanceOf[Shape])
    }
}

/** The shortest distance between two geometries, in the unit of their coordinates; null if one is empty. */
final case class StDistance(left: Expression, right: Expression, isTry: Boolean)
    extends OfGeometries
    with Distance {
  override def name: String = "st_distance"
  override def dataType: DataType = DoubleType
  override def nullable: Boolean = true

  override private[spatial] def of(left: Shape, right: Shape): Any =
    if (left.isEmpty || right.isEmpty) null else left.distance(right)

  override def spans: Seq[(Span, Span)] =
    Seq((BoxEnd.MinX, BoxEnd.MaxX), (BoxEnd.MinY, BoxEnd.MaxY)).map { case (least, greatest) =>
      def span(e: Expression) =
        Span(StBoxEnd.of(e, least, isTry), StBoxEnd.of(e, greatest, isTry))
      (span(left), span(right))
    }

  override def sizes: Seq[Expression] = children.map(StBoxEnd.of(_, BoxEnd.Size, isTry))

  override protected def withNewChildrenInternal(left: Expression, right: Expression): StDistance =
    copy(left = left, right = right)
}

/** How far two points of longitude and latitude are apart in metres; null if one is empty. */
final case class StGlobeDistance(
    left: Expression,
    right: Expression,
    globe: Globe,
    isTry: Boolean
) extends OfGeometries
    with Distance {
  override def name: String = globe.function
  override def dataType: DataType = DoubleType
  override def nullable: Boolean = true

  override private[spatial] def of(left: Shape, right: Shape): Any =
    if (left.isEmpty || right.isEmpty) null
    else {
      needPlace(left)
      needPlace(right)
      globe.distance(left.minX, left.minY, right.minX, right.minY)
    }

  private def needPlace(shape: Shape): Unit =
    Globe.fault(shape.isPoint, shape.minY).foreach(shape.unreadable)

  override def spans: Seq[(Span, Span)] =
    Seq(0, 1, 2).map { axis =>
      def span(e: Expression) = Span(
        StBoxEnd.of(e, EarthEnd(globe, axis, isLow = true), isTry),
        StBoxEnd.of(e, EarthEnd(globe, axis, isLow = false), isTry)
      )
      (span(left), span(right))
    }

  override def sizes: Seq[Expression] = children.map(_ => Literal(globe.radius))

  override protected def withNewChildrenInternal(
      left: Expression,
      right: Expression
  ): StGlobeDistance = copy(left = left, right = right)
}

private[spatial] object StFunctions {

  /** Null if it can't be read and the function is a `try_` one. */
  def read(bytes: Array[Byte], isReused: Boolean, function: String, isTry: Boolean): Shape =
    readable(function, isTry, ifNot = null: Shape)(Shape(bytes, isReused))

  /** A value that is computed of geometries, if all of them can be read. */
  def readable[A](function: String, isTry: Boolean, ifNot: A)(compute: => A): A =
    try compute
    catch {
      case _: UnreadableWkb if isTry => ifNot
      case e: UnreadableWkb => throw new InvalidGeometryException(function, e.why, e.bytes)
    }

  def remedy(found: DataType): String = found.typeName.takeWhile(_ != '(') match {
    case "geography" =>
      " Relations on the globe are not supported: make a GEOMETRY of it by " +
        "st_geomfromwkb(st_asbinary(..)), if the plane of its degrees is meant."
    case "string" => " Make BINARY of hexadecimal digits by unhex(..)."
    case _ => ""
  }
}
