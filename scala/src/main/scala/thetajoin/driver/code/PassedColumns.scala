package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}

/**
 * Columns of a row on their way to a method, by its parameters.
 *
 * @param variables for the columns of `output`; the needed ones are evaluated
 */
private[thetajoin] final class PassedColumns(
    ctx: CodegenContext,
    output: Seq[Attribute],
    variables: Seq[ExprCode],
    needed: AttributeSet
) {
  private val (passed, received) = variables.zip(output).map {
    case (variable, attribute) if !needed.contains(attribute) => (Nil, variable)
    case (variable, attribute) =>
      val value = JavaCode.variable(ctx.freshName("value"), attribute.dataType)
      if (variable.isNull == FalseLiteral)
        (Seq(variable.value -> value), ExprCode.forNonNullValue(value))
      else {
        val isNull = JavaCode.isNullVariable(ctx.freshName("isNull"))
        (Seq(variable.isNull -> isNull, variable.value -> value), ExprCode(isNull, value))
      }
  }.unzip

  /** Whether a method can have so many parameters. */
  def fit: Boolean =
    CodeGenerator.isValidParamLength(
      CodeGenerator.calculateParamLengthFromExprValues(passed.flatten.map(_._2))
    )

  def arguments: String = passed.flatten.map(_._1).mkString(", ")

  def parameters: String = passed.flatten.map { case (_, parameter) =>
    s"${CodeGenerator.typeName(parameter.javaType)} $parameter"
  }.mkString(", ")

  /** The columns within the method. Columns that are not needed are as they were. */
  def columns: Seq[ExprCode] = received.map(_.copy())
}
