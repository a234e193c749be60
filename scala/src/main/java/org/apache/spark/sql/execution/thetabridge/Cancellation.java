package org.apache.spark.sql.execution.thetabridge;

import org.apache.spark.TaskContext;

/**
 * Whether the running task has been killed or, outside of a task, its thread interrupted. Loops that may run long before they give a row ask
 * for it. Spark keeps the check of a task to itself, hence this place.
 */
public final class Cancellation {
  private final TaskContext task = TaskContext.get();

  /** Throws what Spark takes for the end of a killed task or of an interrupted thread. */
  public void check() throws InterruptedException {
    if (task != null) task.killTaskIfInterrupted();
    else if (Thread.interrupted()) throw new InterruptedException("The query has been cancelled.");
  }
}
