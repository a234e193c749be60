package thetajoin.functions.spatial

import scala.collection.mutable

import org.apache.spark.unsafe.Platform

import thetajoin.functions.spatial.RayCrossings.PositionSize

/** Where paths lie. */
private[spatial] final class PathsReader(bytes: Array[Byte]) extends WkbReader(bytes) {
  val starts = new mutable.ArrayBuilder.ofInt
  val ends = new mutable.ArrayBuilder.ofInt
  private var areTwoNumbers = true
  private var areClosed = true

  /** The size of copies of all positions, and of two more for each path. */
  var size = 0

  def areUsual(areRings: Boolean): Boolean = areTwoNumbers && (areClosed || !areRings)

  override protected def path(from: Int, count: Int): Unit = if (count > 0) {
    starts += from
    ends += from + (count - 1) * PositionSize
    size += (count + 2) * PositionSize
    areTwoNumbers &&= isUsual && count > 1
    areClosed &&= isClosed(from, count)
  }
}

private[spatial] final class PathsCopier(source: Array[Byte], areRings: Boolean, size: Int)
    extends WkbReader(source) {
  val bytes = new Array[Byte](size)
  val starts = new mutable.ArrayBuilder.ofInt
  val ends = new mutable.ArrayBuilder.ofInt
  private var end = 0

  override protected def path(from: Int, count: Int): Unit = if (count > 0) {
    starts += end
    var i = 0
    while (i < count) {
      add(x(from, i), y(from, i))
      i += 1
    }
    // An edge of one position has no length.
    if (areRings && !isClosed(from, count) || count == 1) add(x(from, 0), y(from, 0))
    ends += end - PositionSize
  }

  private def add(x: Double, y: Double): Unit = {
    Platform.putDouble(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + end, x)
    Platform.putDouble(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + end + 8, y)
    end += PositionSize
  }
}
