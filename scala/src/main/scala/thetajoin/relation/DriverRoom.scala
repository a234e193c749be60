package thetajoin.relation

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.thetabridge.DriverMemory

import thetajoin.Yardsticks

/**
 * Room in the driver's heap for a relation that is built there. The bytes of all rows are estimated from the rows
 * read so far. More is asked for when the estimate turns out to be higher than before.
 *
 * @param rows how many rows there are, if that is known
 */
private[relation] final class DriverRoom(rows: Option[Long]) extends Logging {
  private var asked = 0L

  /** @param bytes the most bytes that the builder holds, for so many rows */
  def ask(bytes: Long, taken: Long): Unit = {
    val inAll =
      (bytes * rows.fold(Yardsticks.UnknownGrowth())(_.toDouble / math.max(taken, 1L))).toLong
    if (inAll > asked) {
      asked = (inAll * Yardsticks.SpareRoom()).toLong
      make(asked)
    }
  }

  def make(bytes: Long): Unit =
    try DriverMemory.makeRoom(bytes)
    catch {
      // Perhaps there is room enough.
      case NonFatal(e) => logWarning("thetajoin: no room could be made for a broadcast", e)
    }
}
