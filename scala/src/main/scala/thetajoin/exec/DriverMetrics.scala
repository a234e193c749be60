package thetajoin.exec

import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.execution.{SQLExecution, SparkPlan}

/** A node with metrics that the driver sets, and not only its tasks. */
trait DriverMetrics extends SparkPlan {

  /** Sets metrics that the driver has found out, for all who look at the query now. */
  protected final def postMetrics(values: (String, Long)*): Unit = {
    values.foreach { case (key, value) => longMetric(key).set(value) }
    SQLMetrics.postDriverMetricUpdates(
      sparkContext,
      sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY),
      values.map { case (key, _) => longMetric(key) }
    )
  }
}
