package thetajoin.codegen

import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSeq,
  AttributeSet,
  BindReferences,
  Expression
}

/**
 * Expressions as Java text, where the columns that they read are variables. For `crowded`, see
 * [[LoopArithmetic.rewrite]].
 */
private[thetajoin] object ExpressionCode {

  /** Whether there is code for all of these expressions. Without it they need a row to read from. */
  def existsFor(es: Seq[Expression]): Boolean =
    !es.exists(_.exists(_.isInstanceOf[CodegenFallback]))

  def apply(
      ctx: CodegenContext,
      e: Expression,
      schema: AttributeSeq,
      variables: Seq[ExprCode],
      crowded: Boolean = false
  ): ExprCode = {
    setInput(ctx, variables)
    LoopArithmetic.rewrite(BindReferences.bindReference(e, schema), crowded).genCode(ctx)
  }

  /** Several expressions as the fields of an UnsafeRow. */
  def row(
      ctx: CodegenContext,
      es: Seq[Expression],
      schema: AttributeSeq,
      variables: Seq[ExprCode]
  ): ExprCode = {
    setInput(ctx, variables)
    GenerateUnsafeProjection.createCode(
      ctx,
      es.map(e => LoopArithmetic.rewrite(BindReferences.bindReference(e, schema), crowded = false))
    )
  }

  private def setInput(ctx: CodegenContext, variables: Seq[ExprCode]): Unit = {
    ctx.currentVars = variables
    ctx.INPUT_ROW = null
  }

  /** The code of the needed variables that are not evaluated yet, which are then marked as evaluated. */
  def evaluate(variables: Seq[ExprCode], of: Seq[Attribute], needed: AttributeSet): String = {
    val pending =
      variables.zip(of).collect { case (v, a) if needed.contains(a) && v.code.nonEmpty => v }
    val text = pending.map(_.code.toString).mkString("\n")
    pending.foreach(_.code = EmptyBlock)
    text
  }

  /** A column that is null if one of the tests holds, and else the value that `read` gives. */
  def variable(
      ctx: CodegenContext,
      attribute: Attribute,
      read: String,
      nullTests: Iterable[String]
  ): ExprCode = {
    val javaType = CodeGenerator.javaType(attribute.dataType)
    val value = ctx.freshName("column")
    val variable = JavaCode.variable(value, attribute.dataType)
    if (nullTests.isEmpty) ExprCode(code"$javaType $value = $read;", FalseLiteral, variable)
    else {
      val isNull = ctx.freshName("isNull")
      val default = CodeGenerator.defaultValue(attribute.dataType)
      val code = code"""
        boolean $isNull = ${nullTests.mkString(" || ")};
        $javaType $value = $isNull ? $default : ($read);"""
      ExprCode(code, JavaCode.isNullVariable(isNull), variable)
    }
  }

  def isFalse(condition: ExprCode): String =
    if (condition.isNull == FalseLiteral) s"!${condition.value}"
    else s"${condition.isNull} || !${condition.value}"
}
