package thetajoin.driver

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.TaskContext

/**
 * The build rows that the running task has found a match for while it gave pairs: a flag for each, for each join that asks for it. A
 * flag is set by a store alone, where bits of one word would wait for each other.
 */
object TaskMarks {
  private val lastJoin = new AtomicInteger
  private val ofTasks = new ConcurrentHashMap[(Long, Int), Array[Boolean]]

  /** A number for a join. */
  private[thetajoin] def newJoin(): Int = lastJoin.incrementAndGet()

  /** The running task's for a join of so many build rows, by the join's number. They are forgotten when the task ends. */
  def of(join: Int, rows: Int): Array[Boolean] = {
    val task = TaskContext.get()
    val key = (task.taskAttemptId(), join)
    ofTasks.computeIfAbsent(
      key,
      _ => {
        task.addTaskCompletionListener[Unit](_ => ofTasks.remove(key))
        new Array[Boolean](rows)
      }
    )
  }
}
