package thetajoin.accelerator.existence

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import thetajoin.Yardsticks
import thetajoin.contract.SeenKeys

/**
 * Pairs of numbers, up to so many. No other pair seen so far is at least as high in both numbers. If there are more
 * such pairs, a pair may be new that another beats.
 */
private[existence] final class Staircase(most: Int = Yardsticks.UndominatedRows())
    extends SeenKeys {

  // By ascending first numbers; second ones then descend.
  private val xs, ys = new Array[Long](most)
  private var size = 0

  override def isNew(key: UnsafeRow): Boolean = isNew(key.getLong(0), key.getLong(1))

  override def isNew(key: Long): Boolean =
    throw new UnsupportedOperationException("a key is a pair of numbers")

  def isNew(x: Long, y: Long): Boolean = {
    val at = firstFrom(x)
    if (at < size && ys(at) >= y) false
    else {
      var from = at
      while (from > 0 && ys(from - 1) <= y) from -= 1
      val until = if (at < size && xs(at) == x) at + 1 else at
      if (size - (until - from) < most) replace(from, until, x, y)
      true
    }
  }

  private def firstFrom(x: Long): Int = {
    val found = java.util.Arrays.binarySearch(xs, 0, size, x)
    if (found >= 0) found else -(found + 1)
  }

  private def replace(from: Int, until: Int, x: Long, y: Long): Unit = {
    System.arraycopy(xs, until, xs, from + 1, size - until)
    System.arraycopy(ys, until, ys, from + 1, size - until)
    xs(from) = x
    ys(from) = y
    size += 1 - (until - from)
  }
}
