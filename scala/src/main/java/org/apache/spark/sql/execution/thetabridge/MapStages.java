package org.apache.spark.sql.execution.thetabridge;

import org.apache.spark.FutureAction;
import org.apache.spark.MapOutputStatistics;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkContext;

/** Writes a shuffle ahead of the job that reads it, as adaptive execution does; Scala keeps it private to Spark. */
public final class MapStages {
  private MapStages() {}

  /** The job that writes the dependency's map outputs. */
  public static FutureAction<MapOutputStatistics> submit(
      SparkContext context, ShuffleDependency<?, ?, ?> dependency) {
    return submitTyped(context, dependency);
  }

  private static <K, V, C> FutureAction<MapOutputStatistics> submitTyped(
      SparkContext context, ShuffleDependency<K, V, C> dependency) {
    return context.submitMapStage(dependency);
  }
}
