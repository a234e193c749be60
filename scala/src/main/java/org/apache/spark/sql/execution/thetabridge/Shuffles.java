package org.apache.spark.sql.execution.thetabridge;

import org.apache.spark.FutureAction;
import org.apache.spark.MapOutputStatistics;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.sql.execution.UnsafeRowSerializer;

/** What Spark's own exchanges do with rows and shuffles, and Scala keeps private to Spark. */
public final class Shuffles {
  private Shuffles() {}

  /** Rows of `fields` fields go over the wire as their bytes; a reader gets the same row object each time. */
  public static Serializer rowSerializer(int fields) {
    return new UnsafeRowSerializer(fields, null);
  }

  /**
   * Whether a shuffle writes a row before it asks for the next one, so that one row object may serve for all. Spark's
   * own shuffle does, with rows as bytes. Others may gather rows first.
   */
  public static boolean writeRowsAtOnce() {
    return SparkEnv.get().shuffleManager() instanceof SortShuffleManager;
  }

  /** The job that writes a shuffle ahead of the one that reads it, as in adaptive execution. */
  public static FutureAction<MapOutputStatistics> write(
      SparkContext context, ShuffleDependency<?, ?, ?> dependency) {
    return typed(context, dependency);
  }

  private static <K, V, C> FutureAction<MapOutputStatistics> typed(
      SparkContext context, ShuffleDependency<K, V, C> dependency) {
    return context.submitMapStage(dependency);
  }
}
