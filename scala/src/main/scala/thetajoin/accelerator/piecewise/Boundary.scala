package thetajoin.accelerator.piecewise

import org.apache.spark.sql.catalyst.expressions.{Ascending, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.condition.Operator
import thetajoin.contract.{SeenKeys, SingleRunProber}
import thetajoin.kit.ValueOrder

/**
 * Where the run of a probe key lies among sorted build keys, for `build key <operator> probe key`.
 *
 * @param upward whether the candidates are the last positions (build key above the probe key) or the first
 * @param beforeEqual whether the boundary of the run lies before the build keys that equal the probe key, or after
 */
private[piecewise] final case class Boundary(upward: Boolean, beforeEqual: Boolean) {

  /** The row that satisfies the comparison most easily, among rows in key order. */
  def extreme(order: Array[Int]): Array[Int] = if (upward) order.takeRight(1) else order.take(1)
}

private[piecewise] object Boundary {
  def apply(operator: String): Boundary = {
    val upward = operator.startsWith(Operator.Greater.symbol)
    Boundary(upward, beforeEqual = upward == operator.endsWith("="))
  }
}

/** One run, from a boundary to the end of the positions or from their start to it. */
private[piecewise] abstract class BoundaryProber(boundary: Boundary, rows: Int)
    extends SingleRunProber {
  private val upward = boundary.upward

  protected final def runAt(position: Int): Unit =
    if (upward) run(position, rows) else run(0, position)
}

/** For joins that need the row alone which satisfies the comparison most easily: the best key of a task so far. */
private[piecewise] final class ExtremeSoFar(boundary: Boundary, keyType: DataType)
    extends SeenKeys {
  private val upward = boundary.upward
  private lazy val ordering = ValueOrder.of(keyType, Ascending)
  private var best = 0L
  private var isFirst = true
  private var bestRow: UnsafeRow = _

  override def isNew(key: Long): Boolean = {
    val isBetter = isFirst || (if (upward) key > best else key < best)
    if (isBetter) best = key
    isFirst = false
    isBetter
  }

  override def isNew(key: UnsafeRow): Boolean =
    if (keyType == LongType) isNew(key.getLong(0))
    else {
      val c = if (bestRow == null) 0 else ordering.compare(key, bestRow)
      val isBetter = bestRow == null || (if (upward) c > 0 else c < 0)
      if (isBetter) bestRow = key.copy()
      isBetter
    }
}
