package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode

/** The consumer of a join's rows in generated code. */
private[thetajoin] trait RowConsumer {

  /** Text that takes one row of a loop: see [[enterLoop]]. */
  def emit(row: Seq[ExprCode]): String

  /** Text that takes one row outside of such a loop. */
  def emitSingle(row: Seq[ExprCode]): String = emit(row)

  /**
   * The columns that `emit` reads, if it otherwise reads and writes nothing but fields. Then it may stand in a
   * method, and in several.
   */
  def standalone: Option[AttributeSet] = None

  /**
   * Text around a loop with `emit`. It can keep in local variables the fields that `emit` changes, and declares them:
   * once in a scope.
   */
  def enterLoop: String = ""
  def leaveLoop: String = ""
}
