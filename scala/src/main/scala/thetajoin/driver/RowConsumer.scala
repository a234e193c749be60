package thetajoin.driver

import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode

/** What takes a join's rows in generated code. */
private[thetajoin] trait RowConsumer {

  /** Text that takes one row. */
  def emit(row: Seq[ExprCode]): String

  /**
   * The columns that `emit` reads, if beside them it reads and writes nothing but fields: then it may stand in a method,
   * and in several.
   */
  def standalone: Option[AttributeSet] = None

  /**
   * Text around `emit`, or a loop with it, which can keep in local variables what `emit` changes. It declares them: once in a scope.
   */
  def enterLoop: String = ""
  def leaveLoop: String = ""
}
