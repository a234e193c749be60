package thetajoin.report

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.funsuite.AnyFunSuite

import thetajoin.{SharedSession, ThetaJoinExplain}

/** The last line of the section in EXPLAIN. */
class ReportLineSuite extends AnyFunSuite with SharedSession {

  private def section(sql: String): Seq[String] =
    new ThetaJoinExplain()
      .generateExtendedInfo(spark.sql(sql).queryExecution.executedPlan)
      .linesIterator
      .toSeq

  private def joins(sql: String): Seq[JsonNode] = {
    val line = new ObjectMapper().readTree(section(sql).last)
    assert(line.get("report").asText == "thetajoin" && line.get("version").asInt == 1)
    line.get("joins").elements.asScala.toSeq
  }

  private def texts(join: JsonNode, field: String): Seq[String] =
    join.get(field).elements.asScala.map(_.asText).toSeq

  private def names(join: JsonNode): Set[String] = join.fieldNames.asScala.toSet

  test("it has what the lines above it say") {
    val sql =
      "SELECT * FROM range(5) AS a JOIN range(9) AS b ON a.id > b.id AND a.id % 2 <> b.id % 2"
    val Seq(join) = joins(sql): @unchecked
    assert(join.get("join_number").asInt == 1 && join.get("join_type").asText == "Inner")
    assert(join.get("accelerator").asText == "piecewise")
    assert(texts(join, "index") == Seq("(a.id > b.id)"))
    assert(
      section(sql).contains(s"    residual: ${texts(join, "residual").mkString("[", ", ", "]")}")
    )
    assert(join.get("estimated_build_rows").asLong == 5)
    assert(Set("reason_code", "matches").intersect(names(join)).isEmpty)
  }

  test("a join without an accelerator has a reason and a remedy") {
    val sql =
      "SELECT /*+ NO_THETA_JOIN(a) */ * FROM range(5) AS a JOIN range(9) AS b ON a.id > b.id"
    val Seq(join) = joins(sql): @unchecked
    assert(join.get("reason_code").asText == "HINTED")
    assert(section(sql).contains(s"    remedy: ${join.get("remedy").asText}"))
    assert(!names(join).contains("accelerator"))
  }

  test("a query without joins has an empty list") {
    assert(section("SELECT 1").head == "No joins.")
    assert(joins("SELECT 1").isEmpty)
  }
}
