package org.apache.spark.sql.execution.thetabridge;

import scala.jdk.javaapi.CollectionConverters;

import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.rdd.ParallelCollectionRDD;
import org.apache.spark.rdd.RDD;

/** What can be used again, as far as Spark knows and keeps to itself. */
public final class Lasting {
  private Lasting() {}

  /** Whether a broadcast has not been destroyed. */
  public static boolean isValid(Broadcast<?> broadcast) {
    return broadcast.isValid();
  }

  /** Whether all that an RDD is made of is in the driver's memory, so that no file can have changed. */
  public static boolean isOfMemory(RDD<?> rdd) {
    return rdd.dependencies().isEmpty()
        ? rdd instanceof ParallelCollectionRDD
        : CollectionConverters.asJava(rdd.dependencies()).stream().allMatch(d -> isOfMemory(d.rdd()));
  }
}
