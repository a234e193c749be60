package thetajoin.functions.spatial

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression, UnaryExpression}
import org.apache.spark.sql.types._

import thetajoin.condition.NeverFails

/**
 * An end of the bounding box of a geometry in well-known binary. Never shown to a user: only used as an index key. It
 * can't fail.
 */
final case class StBoxEnd(child: Expression, end: BoxEnd, isTry: Boolean)
    extends UnaryExpression
    with NeverFails {
  override def dataType: DataType = DoubleType
  override def nullIntolerant: Boolean = true
  override def toString: String = s"${end.name}($child)"

  override protected def nullSafeEval(value: Any): Any =
    end.of(value.asInstanceOf[Array[Byte]], isInfiniteIfUnreadable = !isTry)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val of = ctx.addReferenceObj("end", end, classOf[BoxEnd].getName)
    defineCodeGen(ctx, ev, value => s"$of.of($value, ${!isTry})")
  }

  override protected def withNewChildInternal(newChild: Expression): StBoxEnd = copy(newChild)
}

object StBoxEnd {
  def of(geometry: Expression, end: BoxEnd, isTry: Boolean): Expression = geometry match {
    case StPoint(x, y) => PointEnd(x, y, end, isTry)
    case other => StBoxEnd(other, end, isTry)
  }
}

/** [[StBoxEnd]] of a point by its coordinates. */
final case class PointEnd(left: Expression, right: Expression, end: BoxEnd, isTry: Boolean)
    extends BinaryExpression
    with NeverFails {
  override def dataType: DataType = DoubleType
  override def nullIntolerant: Boolean = true
  override def toString: String = s"${end.name}($left, $right)"

  override protected def nullSafeEval(x: Any, y: Any): Any =
    end.ofPoint(x.asInstanceOf[Double], y.asInstanceOf[Double], isInfiniteIfUnreadable = !isTry)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val of = ctx.addReferenceObj("end", end, classOf[BoxEnd].getName)
    defineCodeGen(ctx, ev, (x, y) => s"$of.ofPoint($x, $y, ${!isTry})")
  }

  override protected def withNewChildrenInternal(left: Expression, right: Expression): PointEnd =
    copy(left = left, right = right)
}

/** A point in well-known binary. `st_point(NaN, NaN)` is the empty point. */
final case class StPoint(left: Expression, right: Expression) extends BinaryExpression
    with NeverFails {
  override def dataType: DataType = BinaryType
  override def nullIntolerant: Boolean = true
  override def prettyName: String = "st_point"

  override def checkInputDataTypes(): TypeCheckResult =
    if (children.forall(_.dataType == DoubleType)) TypeCheckResult.TypeCheckSuccess
    else TypeCheckResult.TypeCheckFailure("st_point takes two numbers, x and y.")

  override protected def nullSafeEval(x: Any, y: Any): Any =
    StPoint.bytes(x.asInstanceOf[Double], y.asInstanceOf[Double])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, (x, y) => s"${StPoint.getClass.getName}.MODULE$$.bytes($x, $y)")

  override protected def withNewChildrenInternal(left: Expression, right: Expression): StPoint =
    copy(left, right)
}

object StPoint {
  def bytes(x: Double, y: Double): Array[Byte] = WkbReader.pointBytes(x, y)
}
