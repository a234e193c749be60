package org.apache.spark.sql.execution.thetabridge;

import org.apache.spark.TaskContext;
import org.apache.spark.memory.MemoryConsumer;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Heap that a task uses for structures that can't be spilled. Spark's memory manager is told of it, so that operators
 * which can spill make room. Memory that it does not grant is used all the same. Memory that it granted is lent to an
 * operator of the task that can't go on without it. Spark keeps the task's manager to itself, so this class lies in
 * its package.
 */
public final class TaskMemory extends MemoryConsumer {
  private final TaskContext task;
  private boolean isFull;

  private TaskMemory(TaskContext task) {
    super(task.taskMemoryManager(), MemoryMode.ON_HEAP);
    this.task = task;
  }

  /** The memory of the running task. It is given back at the end of the task. */
  public static TaskMemory ofRunningTask() {
    TaskMemory memory = new TaskMemory(TaskContext.get());
    TaskCompletionListener giveBack = ended -> memory.hold(0);
    memory.task.addTaskCompletionListener(giveBack);
    return memory;
  }

  /** So many bytes in all are in use now. */
  public void hold(long bytes) {
    long more = bytes - getUsed();
    if (more < 0) {
      freeMemory(-more);
    } else if (more > 0 && !isFull) {
      isFull = acquireMemory(more) < more;
    }
  }

  /** Adds what is held now to the most memory that the task ever used, which Spark's UI shows. */
  public void countAsPeak() {
    task.taskMetrics().incPeakExecutionMemory(getUsed());
  }

  @Override
  public long spill(long size, MemoryConsumer trigger) {
    if (trigger == this) return 0;
    long lent = Math.min(size, getUsed());
    freeMemory(lent);
    isFull = true;
    return lent;
  }
}
