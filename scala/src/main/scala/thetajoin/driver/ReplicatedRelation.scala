package thetajoin.driver

import java.lang.ref.SoftReference
import java.util.concurrent.TimeUnit.MILLISECONDS
import java.util.concurrent.locks.ReentrantLock

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.thetabridge.Cancellation

import thetajoin.relation.ThetaRelation

/**
 * A relation that each JVM makes for itself, in the first task that asks for it; others that ask meanwhile wait, unless they are killed. It
 * is broadcast as the way to make it, and outlives the tasks that hold it only while there is memory.
 *
 * @param how a `() => ThetaRelation` as bytes: a broadcast's size is estimated by a walk over all that it refers to
 */
private[thetajoin] final class ReplicatedRelation(how: Array[Byte]) extends Serializable {
  @transient private lazy val lock = new ReentrantLock
  @transient private var made: SoftReference[ThetaRelation] = _
  @transient private var countedFor: String = _

  /**
   * Called in a task.
   *
   * @param count called once in a JVM for each run of the query
   */
  def get(count: ThetaRelation => Unit): ThetaRelation = {
    val cancellation = new Cancellation
    while (!lock.tryLock(ReplicatedRelation.MillisPerCheck, MILLISECONDS)) cancellation.check()
    try madeOrKept(count)
    finally lock.unlock()
  }

  private def madeOrKept(count: ThetaRelation => Unit): ThetaRelation = {
    val before = Option(made).flatMap(reference => Option(reference.get()))
    val relation = before.getOrElse(make())
    val run = TaskContext.get().getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    if (before.isEmpty || run != countedFor) count(relation)
    made = new SoftReference(relation)
    countedFor = run
    relation
  }

  private def make(): ThetaRelation = JavaBytes.read[() => ThetaRelation](how).apply()
}

private[thetajoin] object ReplicatedRelation {

  /** How long a task waits for another before it asks whether it has been killed. */
  private val MillisPerCheck = 100L

  def apply(make: () => ThetaRelation): ReplicatedRelation =
    new ReplicatedRelation(JavaBytes.of(make))
}
