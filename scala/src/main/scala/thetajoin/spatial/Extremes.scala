package thetajoin.spatial

import org.apache.spark.unsafe.Platform

/** The least and the greatest coordinates of a geometry: NaN if it is empty. */
private[spatial] final class Extremes(bytes: Array[Byte]) extends WkbReader(bytes) {
  private var count = 0
  private var left = Double.PositiveInfinity
  private var bottom = Double.PositiveInfinity
  private var right = Double.NegativeInfinity
  private var top = Double.NegativeInfinity

  /** Its type, as numbered by OGC. */
  val kind: Int = read()

  def minX: Double = if (count == 0) Double.NaN else left
  def minY: Double = if (count == 0) Double.NaN else bottom
  def maxX: Double = if (count == 0) Double.NaN else right
  def maxY: Double = if (count == 0) Double.NaN else top

  override protected def path(from: Int, positions: Int): Unit = {
    count += positions
    var i = 0
    while (i < positions) {
      left = math.min(left, x(from, i))
      right = math.max(right, x(from, i))
      bottom = math.min(bottom, y(from, i))
      top = math.max(top, y(from, i))
      i += 1
    }
  }
}

/** One of the ends of a geometry's bounding box. */
sealed abstract class BoxEnd(val name: String, val isX: Boolean, val isLeast: Boolean)
    extends Serializable {

  /**
   * The end of a geometry: NaN if it is empty. Where the geometry can't be read, the box is infinite, so that it meets all others, or else
   * empty.
   */
  final def of(bytes: Array[Byte], isInfiniteIfUnreadable: Boolean): Double =
    if (isPlainPoint(bytes)) ofPoint(number(bytes, 5), number(bytes, 13), isInfiniteIfUnreadable)
    else
      try {
        val extremes = new Extremes(bytes)
        if (isX) { if (isLeast) extremes.minX else extremes.maxX }
        else if (isLeast) extremes.minY
        else extremes.maxY
      } catch {
        case _: UnreadableWkb => unreadable(isInfiniteIfUnreadable)
      }

  /** The same of a point. */
  final def ofPoint(x: Double, y: Double, isInfiniteIfUnreadable: Boolean): Double =
    if (java.lang.Double.isFinite(x) && java.lang.Double.isFinite(y)) { if (isX) x else y }
    else if (x.isNaN && y.isNaN) Double.NaN
    else unreadable(isInfiniteIfUnreadable)

  private def unreadable(isInfinite: Boolean): Double =
    if (!isInfinite) Double.NaN
    else if (isLeast) Double.NegativeInfinity
    else Double.PositiveInfinity

  /** Whether it is a point of two coordinates, in the byte order of this machine. */
  private def isPlainPoint(bytes: Array[Byte]): Boolean =
    bytes.length == 21 && bytes(0) == WkbReader.Native &&
      Platform.getInt(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + 1) == WkbReader.Point

  private def number(bytes: Array[Byte], at: Int): Double =
    Platform.getDouble(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at)
}

object BoxEnd {
  case object MinX extends BoxEnd("min_x", isX = true, isLeast = true)
  case object MinY extends BoxEnd("min_y", isX = false, isLeast = true)
  case object MaxX extends BoxEnd("max_x", isX = true, isLeast = false)
  case object MaxY extends BoxEnd("max_y", isX = false, isLeast = false)
}
