package thetajoin.ui

import scala.annotation.meta.getter

import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.util.kvstore.KVIndex

import com.fasterxml.jackson.databind.annotation.JsonDeserialize

import thetajoin.report.JoinReport

/**
 * The joins of a query that has ended. Spark writes it to the event log as JSON, by the names of the fields, and reads
 * it again in the history server, maybe of a later version: fields may be added, and keep their types.
 */
final case class JoinsEvent(@(KVIndex @getter) executionId: Long, joins: Seq[JoinLine])
    extends SparkListenerEvent

/**
 * One join of a query: by which accelerator it ran, or why by none.
 *
 * @param node the operator that ran it, and with which side built, if the join was accelerated
 * @param counts as in [[JoinReport]]
 */
final case class JoinLine(
    number: Int,
    joinType: String,
    condition: String,
    accelerator: Option[String],
    node: Option[String],
    code: Option[String],
    reason: Option[String],
    remedy: Option[String],
    @JsonDeserialize(contentAs = classOf[java.lang.Long]) counts: Map[String, Long]
) {

  /** All that is written of it. */
  def words: Seq[String] =
    Seq(joinType, condition) ++ accelerator ++ node ++ code ++ reason ++ remedy
}

object JoinsEvent {

  /** Conditions may have thousands of constants. */
  private val MostLetters = 1000

  /**
   * None if the plan has no joins.
   *
   * @param redacted a text without what the session hides
   */
  def of(executionId: Long, plan: SparkPlan, redacted: String => String): Option[JoinsEvent] = {
    def shown(text: String): String = {
      val safe = redacted(text)
      if (safe.length <= MostLetters) safe else safe.take(MostLetters) + "..."
    }
    val lines = JoinReport.of(plan).map { report =>
      val (ours, reason) = (report.outcome.toOption, report.outcome.left.toOption)
      JoinLine(
        report.number,
        report.joinType,
        shown(report.condition),
        ours.map(_.accelerator),
        ours.map(a => s"${a.exec}, ${a.buildSide}"),
        reason.map(_.code.name),
        reason.map(r => shown(r.what)),
        reason.map(r => shown(r.remedy)),
        report.counts
      )
    }
    if (lines.isEmpty) None else Some(JoinsEvent(executionId, lines))
  }
}
