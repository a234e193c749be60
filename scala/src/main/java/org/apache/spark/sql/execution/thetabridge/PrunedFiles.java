package org.apache.spark.sql.execution.thetabridge;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.PruneFileSourcePartitions$;

/** What Spark's optimizer does to file scans before it asks for sizes, and Scala keeps private to Spark. */
public final class PrunedFiles {
  private PrunedFiles() {}

  /** The same plan with scans of the partitions only that its filters leave. */
  public static LogicalPlan of(LogicalPlan plan) {
    return PruneFileSourcePartitions$.MODULE$.apply(plan);
  }
}
