package thetajoin.report

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.{
  Command,
  CompoundPlanStatement,
  ExecutableDuringAnalysis,
  InsertIntoDir,
  LocalRelation,
  LogicalPlan,
  ParsedStatement
}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.catalyst.{FunctionIdentifier, InternalRow}
import org.apache.spark.sql.execution.CommandExecutionMode
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** A call of `thetajoin_explain` that can't be answered. */
final class InvalidExplainException(why: String)
    extends IllegalArgumentException(
      s"[INVALID_EXPLAIN_CALL] thetajoin_explain takes one SQL query as a string constant, but $why. " +
        "Write SELECT * FROM thetajoin_explain('SELECT ...')."
    )

/**
 * `SELECT * FROM thetajoin_explain('SELECT ...')`: a row for each join of the query, as it would be planned now.
 * EXPLAIN says more of a join.
 */
object ExplainFunction {
  private val name = "thetajoin_explain"

  val schema: StructType = StructType.fromDDL(
    "join_number INT, join_type STRING, condition STRING, accelerator STRING, build_side STRING, " +
      "index ARRAY<STRING>, residual ARRAY<STRING>, reason_code STRING, advice ARRAY<STRING>, notes ARRAY<STRING>"
  )

  def description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan) = {
    val usage =
      s"$name(sql) - for each join of the query: accelerated by what, or why not and what to do."
    (
      FunctionIdentifier(name),
      new ExpressionInfo(
        getClass.getName,
        null,
        name,
        usage,
        "",
        "",
        "",
        "table_funcs",
        "0.1.0",
        "",
        "built-in"
      ),
      explain
    )
  }

  private def explain(arguments: Seq[Expression]): LogicalPlan = {
    val query = arguments match {
      case Seq(text) if text.foldable && text.dataType.isInstanceOf[StringType] =>
        Option(
          text.eval()
        ).map(_.toString).getOrElse(throw new InvalidExplainException("it is NULL"))
      case Seq(other) => throw new InvalidExplainException(s"it is: ${other.sql}")
      case several => throw new InvalidExplainException(s"it has ${several.size} arguments")
    }
    val state =
      SparkSession.active.asInstanceOf[org.apache.spark.sql.classic.SparkSession].sessionState
    val parsed = state.sqlParser.parsePlan(query)
    requireQuery(parsed)
    val execution = state.executePlan(parsed, CommandExecutionMode.SKIP)
    requireQuery(execution.analyzed)
    LocalRelation(
      DataTypeUtils.toAttributes(schema),
      JoinReport.of(execution.executedPlan).map(row)
    )
  }

  /**
   * Nothing may run that is only to be explained. Analysis itself runs scripts, CALL and EXECUTE IMMEDIATE, so the
   * parsed plan is looked at. The name that IDENTIFIER(...) stands for is known once it is analysed.
   */
  private def requireQuery(plan: LogicalPlan): Unit =
    plan.find {
      case _: Command | _: ParsedStatement | _: InsertIntoDir => true
      case _: CompoundPlanStatement | _: ExecutableDuringAnalysis => true
      // Its class has another name from Spark 4.1 on.
      case other => other.nodeName.contains("ExecuteImmediate")
    }.foreach { statement =>
      throw new InvalidExplainException(s"it is no query and was not run: ${statement.nodeName}")
    }

  /** `advice` has why no accelerator serves the join, or why an index does not, and what to do about it. */
  private def row(report: JoinReport): InternalRow = {
    val (ours, reason) = (report.outcome.toOption, report.outcome.left.toOption)
    InternalRow(
      report.number,
      text(report.joinType),
      text(report.condition),
      ours.map(a => text(a.accelerator)).orNull,
      ours.map(a => text(a.buildSide)).orNull,
      ours.map(a => texts(a.index)).orNull,
      ours.map(a => texts(a.residual)).orNull,
      reason.map(r => text(r.code.name)).orNull,
      texts(reason.map(r => s"${r.what}. ${r.remedy}").toSeq ++ report.passedOver.map(_.advice)),
      texts(report.notes)
    )
  }

  private def text(s: String): UTF8String = UTF8String.fromString(s)
  private def texts(s: Seq[String]): ArrayData = ArrayData.toArrayData(s.map(text).toArray)
}
