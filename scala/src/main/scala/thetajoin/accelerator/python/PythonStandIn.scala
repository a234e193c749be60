package thetajoin.accelerator.python

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodeGenerator,
  CodegenContext,
  ExprCode,
  FalseLiteral
}
import org.apache.spark.sql.types.DataType

import thetajoin.condition.FoundByIndex

/**
 * A conjunct that calls a Python function, in a form that Spark leaves in a join; or a function by which a top-k join
 * orders its matches. It is tested on pairs only where one of its arguments can't be evaluated, and raises that error
 * then.
 *
 * @param template the expression, with [[BoundReference]]s in place of the function's arguments
 * @param isRank whether matches are ordered by it: none is without a value then
 * @param children the arguments
 */
private[python] final case class PythonStandIn(
    template: Expression,
    definition: Definition,
    isRank: Boolean,
    children: Seq[Expression]
) extends FoundByIndex {
  override def dataType: DataType = template.dataType
  override def nullable: Boolean = !isRank
  override def foldable: Boolean = false

  override def original: Expression = filled(template)

  private def filled(template: Expression): Expression =
    template.transform { case argument: BoundReference => children(argument.ordinal) }

  private def readable: Expression = filled(template.transform { case udf: PythonUDF =>
    PrettyPythonUDF(udf.name, udf.dataType, udf.children)
  })

  override def toString: String = readable.toString
  override def sql: String = readable.sql

  override lazy val canonicalized: Expression =
    copy(template = template.canonicalized, children = children.map(_.canonicalized))

  override def eval(input: InternalRow): Any = {
    children.foreach(_.eval(input))
    PythonStandIn.untestable()
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val arguments = children.map(_.genCode(ctx).code.toString).mkString("\n")
    ev.copy(
      code = code"""
        $arguments
        ${PythonStandIn.getClass.getName}.MODULE$$.untestable();
        ${CodeGenerator.javaType(dataType)} ${ev.value} = ${CodeGenerator.defaultValue(
          dataType
        )};""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): PythonStandIn = copy(children = newChildren)
}

private[python] object PythonStandIn {

  /** For an expression of this call. */
  def apply(expression: Expression, call: Call, isRank: Boolean): PythonStandIn = {
    val arguments = call.function.children
    val template = call.function.withNewChildren(arguments.zipWithIndex.map { case (a, i) =>
      BoundReference(i, a.dataType, a.nullable)
    })
    PythonStandIn(
      expression.transform { case e if e eq call.function => template },
      call.definition,
      isRank,
      arguments
    )
  }

  def untestable(): Boolean =
    throw new IllegalStateException("a Python function was to be evaluated without Python")
}
