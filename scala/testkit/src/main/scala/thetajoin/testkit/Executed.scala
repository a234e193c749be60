package thetajoin.testkit

import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.{DataFrame, Row}

import thetajoin.exec.{ThetaJoinExec, ThetaJoinStrategy}

/** The rows of a query that has run, and the nodes that ran its joins. */
private[testkit] final case class Executed(
    rows: Seq[String],
    plan: SparkPlan,
    optimized: LogicalPlan
) {
  import Executed._

  def joins: Seq[ThetaJoinExec] = collectWithSubqueries(plan) { case join: ThetaJoinExec => join }

  /** Why this accelerator ran no join, or not all of them. */
  def notBy(accelerator: String): Option[String] =
    if (joins.nonEmpty && joins.forall(_.join.accelerator == accelerator)) None
    else {
      val decisions = optimized.collect { case join: Join =>
        ThetaJoinStrategy.decision(join)
      }.flatten
      val reasons =
        decisions.flatMap(d => d.outcome.left.toOption.map(_.toString) ++ d.losers.map(_.advice))
      Some(s"$accelerator did not run it:\n${(reasons :+ plan.toString).mkString("\n")}")
    }
}

private[testkit] object Executed extends AdaptiveSparkPlanHelper {
  def apply(spark: SparkSession, sql: String): Executed = of(spark.sql(sql))

  private def of(query: DataFrame): Executed = {
    val rows = query.collect().map(text).sorted.toSeq
    val executed = query.queryExecution
    Executed(rows, executed.executedPlan, executed.optimizedPlan)
  }

  /** Of all its bits. */
  private def text(value: Any): String = value match {
    case row: Row => row.toSeq.map(text).mkString("[", ", ", "]")
    case values: scala.collection.Seq[_] => values.map(text).mkString("(", ", ", ")")
    case bytes: Array[Byte] => bytes.map(byte => f"$byte%02x").mkString("X'", "", "'")
    case other => String.valueOf(other)
  }
}
