package thetajoin.relation

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.thetabridge.DriverMemory

/** The relation that a task finds in a broadcast. */
private[thetajoin] object ReceivedRelation extends Logging {

  /**
   * The first task of a process reads it out of its bytes. If that fills the heap, Spark releases all that it can.
   * That includes these bytes, which are then on disk, and the relation is read once more.
   */
  def of(broadcast: Broadcast[ThetaRelation]): ThetaRelation =
    try broadcast.value
    catch {
      case e: Throwable if isForMemory(e) =>
        logWarning(
          "thetajoin: the heap was full when a broadcast was read, which is tried once more",
          e
        )
        DriverMemory.makeRoom(Long.MaxValue)
        broadcast.value
    }

  /** The same in Java, of a broadcast that is an expression there. */
  def term(broadcast: String): String =
    s"${getClass.getName.stripSuffix("$")}.of($broadcast)"

  /**
   * Java's deserialization hides the error of a full heap behind one of its own, which it raises as it puts its
   * stream in order.
   */
  private def isForMemory(e: Throwable): Boolean = e match {
    case null => false
    case _: OutOfMemoryError => true
    case _: IllegalStateException if e.getMessage == "unread block data" => true
    case _ => isForMemory(e.getCause)
  }
}
