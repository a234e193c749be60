package thetajoin

import org.apache.spark.sql.ExtendedExplainGenerator
import org.apache.spark.sql.execution.SparkPlan

import thetajoin.report.{JoinReport, ReportLine}

/**
 * Adds a section to every EXPLAIN that says for each join which accelerator serves it, or why none does:
 * `spark.sql.extendedExplainProviders=thetajoin.ThetaJoinExplain`. Its last line says the same to programs.
 */
final class ThetaJoinExplain extends ExtendedExplainGenerator {
  override def title: String = "ThetaJoin"

  override def generateExtendedInfo(plan: SparkPlan): String = {
    val reports = JoinReport.of(plan)
    val texts = if (reports.isEmpty) Seq("No joins.") else reports.map(_.text)
    (texts :+ ReportLine.of(reports)).mkString("", "\n", "\n")
  }
}
