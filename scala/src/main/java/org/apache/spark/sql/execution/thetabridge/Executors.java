package org.apache.spark.sql.execution.thetabridge;

import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;

/**
 * The memory and cores of an executor, as far as they are known before there is one. Spark keeps its reading of these
 * settings and of the master's URL to itself, so this class lies in its package.
 */
public final class Executors {
  private Executors() {}

  /** Bytes of its heap. */
  public static long heap(SparkContext context) {
    return context.isLocal()
        ? Runtime.getRuntime().maxMemory()
        : (long) context.executorMemory() << 20;
  }

  /** Its cores; 0 if it takes all of its machine, whichever that is. */
  public static int cores(SparkContext context) {
    if (context.isLocal()) return SparkContext$.MODULE$.numDriverCores(context.master());
    boolean takesAll =
        context.master().startsWith("spark:") || context.master().startsWith("local-cluster");
    return context.conf().getInt("spark.executor.cores", takesAll ? 0 : 1);
  }
}
