package thetajoin.functions.spatial

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodeGenerator,
  CodegenContext,
  CodegenFallback,
  ExprCode
}
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression, UnaryExpression}
import org.apache.spark.sql.types._

/** A [[Conversion]]. Without `isTry` what can't be read is an error, else null. */
final case class StConvert(child: Expression, conversion: Conversion, isTry: Boolean)
    extends UnaryExpression {
  override def dataType: DataType = conversion.output
  override def nullable: Boolean = true
  override def nullIntolerant: Boolean = true
  override def prettyName: String = (if (isTry) "try_" else "") + conversion.name
  override protected def stringArgs: Iterator[Any] = Iterator.single(child)

  override def checkInputDataTypes(): TypeCheckResult =
    if (DataType.equalsIgnoreNullability(child.dataType, conversion.input))
      TypeCheckResult.TypeCheckSuccess
    else
      TypeCheckResult.TypeCheckFailure(
        s"$prettyName takes a value of type ${conversion.input.sql}, but the argument is of type ${child.dataType.sql}."
      )

  override protected def nullSafeEval(value: Any): Any = conversion(value, isTry)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val of = ctx.addReferenceObj("conversion", conversion, classOf[Conversion].getName)
    val boxed = ctx.freshName("boxed")
    nullSafeCodeGen(
      ctx,
      ev,
      value =>
        s"""
           |final Object $boxed = $of.apply($value, $isTry);
           |if ($boxed == null) ${ev.isNull} = true;
           |else ${ev.value} = (${CodeGenerator.boxedType(dataType)}) $boxed;""".stripMargin
    )
  }

  override protected def withNewChildInternal(newChild: Expression): StConvert = copy(newChild)
}

/** The points that are no farther from a geometry than this, as a polygon with 8 corners for a quarter of a circle. */
final case class StBuffer(left: Expression, right: Expression) extends BinaryExpression
    with CodegenFallback {
  override def dataType: DataType = BinaryType
  override def nullIntolerant: Boolean = true
  override def prettyName: String = "st_buffer"

  override def checkInputDataTypes(): TypeCheckResult =
    if (left.dataType == BinaryType && right.dataType == DoubleType)
      TypeCheckResult.TypeCheckSuccess
    else TypeCheckResult.TypeCheckFailure("st_buffer takes a geometry, and a number.")

  override protected def nullSafeEval(geometry: Any, distance: Any): Any =
    StFunctions.readable("st_buffer", isTry = false, ifNot = null: Array[Byte]) {
      Conversion.bytes(Conversion.geometry(geometry).buffer(distance.asInstanceOf[Double]))
    }

  override protected def withNewChildrenInternal(left: Expression, right: Expression): StBuffer =
    copy(left, right)
}

/** A rectangle between two corners. */
final case class StMakeEnvelope(children: Seq[Expression]) extends Expression with CodegenFallback {
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = children.exists(_.nullable)
  override def prettyName: String = "st_makeenvelope"

  override def checkInputDataTypes(): TypeCheckResult =
    if (children.forall(_.dataType == DoubleType)) TypeCheckResult.TypeCheckSuccess
    else TypeCheckResult.TypeCheckFailure("st_makeenvelope takes four numbers: x1, y1, x2, y2.")

  override def eval(input: InternalRow): Any = children.map(_.eval(input)) match {
    case Seq(x1: Double, y1: Double, x2: Double, y2: Double) => Conversion.envelope(x1, y1, x2, y2)
    case _ => null
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): StMakeEnvelope = copy(newChildren)
}
