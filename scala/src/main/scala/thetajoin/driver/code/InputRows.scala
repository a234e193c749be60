package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}

/** The rows of an iterator, as they come. */
private[driver] final class InputRows(
    ctx: CodegenContext,
    probeRow: ProbeCode,
    input: String,
    canBeTail: Boolean
) extends ProbeRows {
  private val row = ctx.addMutableState("InternalRow", "probeRow", forceInline = true)
  override val hasNext: String = s"$input.hasNext()"
  override val moveOn: String = s"$row = (InternalRow) $input.next();"
  override val columns: Seq[ExprCode] = probeRow.columns(row, canBeTail)
  override val isTail: Option[String] = if (canBeTail) Some(s"$row == null") else None
  override def start: String = probeRow.start(columns)
}
