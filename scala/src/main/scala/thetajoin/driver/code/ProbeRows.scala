package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode

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
