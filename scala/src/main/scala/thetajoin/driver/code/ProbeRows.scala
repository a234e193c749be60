package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}

/** Probe rows one after another as Java text, for the loop that joins them. */
private[driver] trait ProbeRows {

  /** An expression: whether there is a row to move on to. */
  def hasNext: String
  def moveOn: String

  /** Of the current row, read when needed; null in the tail. */
  def columns: Seq[ExprCode]

  /** An expression: whether a [[BuildTail]] stands in for the row, if one may. */
  def isTail: Option[String]

  /** Sets the candidates of the current row. */
  def start: String
}

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
