package thetajoin.report

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

/**
 * The reports on a plan as one line of JSON, for programs: `{"report":"thetajoin","version":1,"joins":[{...}]}`. The
 * fields of a join have the names of `JoinReport` in Python. What has no value is left out.
 *
 * A version may gain fields. It is raised if a field goes or means something else.
 */
object ReportLine {
  private val Version = 1
  private val mapper = new ObjectMapper

  def of(reports: Seq[JoinReport]): String = {
    val line = mapper.createObjectNode().put("report", "thetajoin").put("version", Version)
    val joins = line.putArray("joins")
    reports.foreach(write(_, joins.addObject()))
    mapper.writeValueAsString(line)
  }

  private def write(report: JoinReport, join: ObjectNode): Unit = {
    join.put("join_number", report.number)
    join.put("join_type", report.joinType)
    join.put("condition", report.condition)
    report.outcome match {
      case Right(acceleration) => write(acceleration, join)
      case Left(reason) =>
        join.put("reason_code", reason.code.name)
        join.put("reason", reason.what)
        join.put("remedy", reason.remedy)
    }
    addAll(join.putArray("passed_over"), report.passedOver.map(_.advice))
    addAll(join.putArray("notes"), report.notes)
  }

  private def write(acceleration: Acceleration, join: ObjectNode): Unit = {
    join.put("accelerator", acceleration.accelerator)
    join.put("exec", acceleration.exec)
    join.put("build_side", acceleration.buildSide)
    addAll(join.putArray("index"), acceleration.index)
    addAll(join.putArray("residual"), acceleration.residual)
    acceleration.estimate.foreach { estimate =>
      join.put("estimated_build_rows", estimate.buildRows.min(Long.MaxValue).toLong)
      join.put("estimated_probe_rows", estimate.probeRows.min(Long.MaxValue).toLong)
    }
    acceleration.seen.foreach { seen =>
      join.put("index_rows", seen.indexRows)
      join.put("candidates", seen.candidates)
      join.put("matches", seen.matches)
    }
  }

  private def addAll(array: ArrayNode, texts: Seq[String]): Unit = texts.foreach(array.add(_))
}
