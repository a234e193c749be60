package org.apache.spark.sql.execution.thetabridge;

import org.apache.spark.TaskContext;

/**
 * Whether the running task has been killed or, outside of a task, its thread interrupted. Loops that may run long
 * before they give a row ask for it. Spark keeps the check of a task to itself, so this class lies in its package.
 * For one thread.
 */
public final class Cancellation {
  /** So many take less than a second, however slow a step is. */
  private static final int STEPS_PER_CHECK = 8192;

  private final TaskContext task = TaskContext.get();
  private long unchecked = 0;

  /** Throws what Spark takes for the end of a killed task or of an interrupted thread. */
  public void check() throws InterruptedException {
    if (task != null) task.killTaskIfInterrupted();
    else if (Thread.interrupted()) throw new InterruptedException("The query has been cancelled.");
  }

  /**
   * Checks after many steps. A step is a look at a build row or as much work, some nanoseconds to some microseconds.
   */
  public void count(int steps) throws InterruptedException {
    unchecked += steps;
    if (unchecked >= STEPS_PER_CHECK) {
      unchecked = 0;
      check();
    }
  }
}
