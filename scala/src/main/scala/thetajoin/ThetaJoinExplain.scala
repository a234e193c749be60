package thetajoin

import org.apache.spark.sql.ExtendedExplainGenerator
import org.apache.spark.sql.execution.SparkPlan

import thetajoin.report.JoinReport

/**
 * Adds a section to every EXPLAIN that says for each join which accelerator serves it, or why none does:
 * `spark.sql.extendedExplainProviders=thetajoin.ThetaJoinExplain`.
 */
final class ThetaJoinExplain extends ExtendedExplainGenerator {
  override def title: String = "ThetaJoin"

  override def generateExtendedInfo(plan: SparkPlan): String = {
    val reports = JoinReport.of(plan)
    if (reports.isEmpty) "No joins.\n" else reports.map(_.text).mkString("", "\n", "\n")
  }
}
