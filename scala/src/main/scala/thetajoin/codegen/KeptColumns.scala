package thetajoin.codegen

import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}

/**
 * Columns of a probe row on their way from the place where the row is read to a method, with a loop over pairs
 * for instance. They go by fields, and the method makes local copies of them.
 *
 * @param variables for the columns of `output`; the needed ones are evaluated
 */
private[thetajoin] final class KeptColumns(
    ctx: CodegenContext,
    output: Seq[Attribute],
    variables: Seq[ExprCode],
    needed: AttributeSet
) {
  private val (kept, copies) = variables.zip(output).map {
    case (variable, attribute) if !needed.contains(attribute) => (Nil, variable)
    case (variable, attribute) =>
      val value = new Kept(CodeGenerator.javaType(attribute.dataType), variable.value)
      val local = JavaCode.variable(value.local, attribute.dataType)
      if (variable.isNull == FalseLiteral) (Seq(value), ExprCode.forNonNullValue(local))
      else {
        val isNull = new Kept("boolean", variable.isNull)
        (Seq(value, isNull), ExprCode(JavaCode.isNullVariable(isNull.local), local))
      }
  }.unzip

  /** The columns within the method. Columns that are not needed are as they were. */
  def locals: Seq[ExprCode] = copies.map(_.copy())

  def set: String = kept.flatten.map(k => s"${k.field} = ${k.source};").mkString("\n")

  def declareLocals: String =
    kept.flatten.map(k => s"final ${k.javaType} ${k.local} = ${k.field};").mkString("\n")

  private final class Kept(val javaType: String, val source: ExprValue) {
    val field: String = ctx.addMutableState(javaType, "kept")
    val local: String = ctx.freshName("probe")
  }
}
