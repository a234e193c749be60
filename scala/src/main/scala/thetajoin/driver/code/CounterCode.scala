package thetajoin.driver.code

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.execution.metric.SQLMetric

import thetajoin.driver.{JoinMetrics, RowCounter}

/** Counts of rows as Java text. The metrics get them at the end of the task. */
private[driver] final class CounterCode(ctx: CodegenContext, metricTerm: String => String) {
  private val counters = mutable.Map.empty[Seq[String], String]

  /** A statement that counts so many rows, an expression, for these of [[JoinMetrics]]. */
  def add(rows: String, metrics: Seq[String]): String = {
    val counter = counters.getOrElseUpdate(metrics, newCounter(metrics))
    s"$counter.add($rows);"
  }

  private def newCounter(metrics: Seq[String]): String = {
    val terms =
      s"new ${classOf[SQLMetric].getName}[] {${metrics.map(metricTerm).mkString(", ")}}"
    ctx.addMutableState(
      classOf[RowCounter].getName,
      "rowCounter",
      v => s"$v = ${JoinMetrics.getClass.getName}.MODULE$$.rowCounter($terms);",
      forceInline = true
    )
  }
}
