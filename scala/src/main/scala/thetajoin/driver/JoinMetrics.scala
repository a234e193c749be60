package thetajoin.driver

import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.{SparkContext, TaskContext}

/** The metrics of a join node, by the keys under which Spark keeps them. */
object JoinMetrics {
  val OutputRows = "numOutputRows"
  val CandidateRows = "candidates"
  val Matches = "matches"
  val IndexRows = "indexRows"
  val IndexBytes = "indexBytes"
  val BuildTime = "buildTime"
  val ProbeTime = "probeTime"

  /** Of a join in blocks only. */
  val Blocks = "blocks"

  def create(context: SparkContext): Map[String, SQLMetric] = Map(
    OutputRows -> SQLMetrics.createMetric(context, "number of output rows"),
    CandidateRows -> SQLMetrics.createMetric(context, "number of candidates"),
    Matches -> SQLMetrics.createMetric(context, "number of matches"),
    IndexRows -> SQLMetrics.createMetric(context, "number of rows in the index"),
    IndexBytes -> SQLMetrics.createSizeMetric(context, "index size"),
    BuildTime -> SQLMetrics.createNanoTimingMetric(context, "time to build index"),
    ProbeTime -> SQLMetrics.createNanoTimingMetric(
      context,
      "time to probe, with the operators above"
    )
  )

  /** A counter of rows that is added to these metrics at the end of the running task. */
  def rowCounter(metrics: Array[SQLMetric]): RowCounter = {
    val counter = new RowCounter
    TaskContext.get().addTaskCompletionListener[Unit](_ => metrics.foreach(_ += counter.rows))
    counter
  }

  /** Counts from now to the end of the running task as time to probe. */
  def timeProbe(metric: SQLMetric): Unit = {
    val started = System.nanoTime()
    TaskContext.get().addTaskCompletionListener[Unit](_ => metric += System.nanoTime() - started)
  }
}

/** Cheaper for each row than a metric. */
final class RowCounter {
  private var count = 0L
  def add(rows: Long): Unit = count += rows
  def rows: Long = count
}
