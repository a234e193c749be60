package thetajoin.condition

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  ConditionalExpression,
  Expression,
  TryEval,
  UnaryExpression
}
import org.apache.spark.sql.types.DataType

/** An expression that is null where its value cannot be computed. */
object Tried {
  def apply(value: Expression): Expression =
    if (Safety.cannotFail(value)) value else TryEval(Apart(value))
}

/**
 * An expression whose parts are evaluated where it stands. Spark evaluates a part that several expressions share ahead
 * of all of them, where no `TryEval` catches its error. It does so for no part of a branch.
 */
final case class Apart(child: Expression) extends UnaryExpression with ConditionalExpression {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def eval(input: InternalRow): Any = child.eval(input)
  override def genCode(ctx: CodegenContext): ExprCode = child.genCode(ctx)
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = child.genCode(ctx)
  override def toString: String = child.toString
  override def sql: String = child.sql

  override def alwaysEvaluatedInputs: Seq[Expression] = Nil
  override def branchGroups: Seq[Seq[Expression]] = Nil
  override def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): Apart = this
  override protected def withNewChildInternal(newChild: Expression): Apart = copy(newChild)
}
