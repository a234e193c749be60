package thetajoin.functions.spatial

import org.apache.spark.unsafe.Platform

import org.locationtech.jts.algorithm.CGAlgorithmsDD

/** Where a point lies against polygons: a ray to the right of it crosses their edges. */
private[spatial] object RayCrossings {
  final val Inside = 0
  final val OnEdge = 1
  final val Outside = 2

  /** Bytes of a position. */
  final val PositionSize = 16

  /** Where the ring of a polygon of one ring begins. */
  private final val FirstOfOnlyRing = 13

  /** From so many edges on, blocks are looked at rather than all edges. */
  private final val ManyEdges = 64

  def xAt(bytes: Array[Byte], at: Int): Double =
    Platform.getDouble(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at)

  def yAt(bytes: Array[Byte], at: Int): Double =
    Platform.getDouble(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at + 8)

  def location(crossed: Int): Int =
    if (crossed < 0) OnEdge else if ((crossed & 1) == 1) Inside else Outside

  /**
   * Where a point lies against a polygon, by its bytes as they are; -1 if they are none of one closed ring, of few
   * edges, in the usual form.
   */
  def locate(polygon: Array[Byte], x: Double, y: Double): Int = {
    val last = polygon.length - PositionSize
    val isPlain = last > FirstOfOnlyRing && last <= FirstOfOnlyRing + ManyEdges * PositionSize &&
      polygon(0) == WkbReader.Native && int(polygon, 1) == WkbReader.Polygon &&
      int(polygon, 5) == 1 && (last - FirstOfOnlyRing) % PositionSize == 0 &&
      int(polygon, 9) == 1 + (last - FirstOfOnlyRing) / PositionSize &&
      xAt(polygon, FirstOfOnlyRing) == xAt(polygon, last) &&
      yAt(polygon, FirstOfOnlyRing) == yAt(polygon, last) && areFinite(polygon, last)
    if (isPlain) location(crossings(polygon, FirstOfOnlyRing, last, x, y)) else -1
  }

  private def areFinite(bytes: Array[Byte], last: Int): Boolean = {
    // A number less itself is zero if it is finite, else NaN.
    var zero = 0.0
    var at = FirstOfOnlyRing
    while (at <= last) {
      val (x, y) = (xAt(bytes, at), yAt(bytes, at))
      zero += (x - x) + (y - y)
      at += PositionSize
    }
    zero == 0.0
  }

  private def int(bytes: Array[Byte], at: Int): Int =
    Platform.getInt(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at)

  /** How many of the edges from the first position until the last the ray crosses; -1 if the point is on one. */
  def crossings(bytes: Array[Byte], first: Int, last: Int, x: Double, y: Double): Int = {
    var crossed = 0
    var at = first
    var x1 = xAt(bytes, at)
    var y1 = yAt(bytes, at)
    while (at < last) {
      at += PositionSize
      val x2 = xAt(bytes, at)
      val y2 = yAt(bytes, at)
      if (x1 >= x || x2 >= x) {
        if (x == x1 && y == y1 || x == x2 && y == y2) return -1
        if (y1 == y && y2 == y) {
          if (x >= math.min(x1, x2) && x <= math.max(x1, x2)) return -1
        } else if ((y1 > y) != (y2 > y)) {
          val side = CGAlgorithmsDD.orientationIndex(x1, y1, x2, y2, x, y)
          if (side == 0) return -1
          if ((side > 0) == (y2 > y1)) crossed += 1
        }
      }
      x1 = x2
      y1 = y2
    }
    crossed
  }
}
