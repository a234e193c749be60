package thetajoin.functions.spatial

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

/** A number of a geometry's bounding box: one of its ends, or how far it is from the origin. */
sealed abstract class BoxEnd(val name: String) extends Serializable {
  protected def of(extremes: Extremes): Double
  protected def ofFinite(x: Double, y: Double): Double

  /** The number of a box of everything. */
  protected def ofAll: Double

  /**
   * The number of a geometry: NaN if it is empty. Where the geometry can't be read, the box is infinite, so that it
   * meets all others, or else empty.
   */
  final def of(bytes: Array[Byte], isInfiniteIfUnreadable: Boolean): Double =
    if (isPlainPoint(bytes)) ofPoint(number(bytes, 5), number(bytes, 13), isInfiniteIfUnreadable)
    else
      try of(new Extremes(bytes))
      catch { case _: UnreadableWkb => if (isInfiniteIfUnreadable) ofAll else Double.NaN }

  /** The same of a point. */
  final def ofPoint(x: Double, y: Double, isInfiniteIfUnreadable: Boolean): Double =
    if (has(x, y)) ofFinite(x, y)
    else if (isInfiniteIfUnreadable && !(x.isNaN && y.isNaN)) ofAll
    else Double.NaN

  /** Whether a point with these coordinates can be read. */
  protected def has(x: Double, y: Double): Boolean =
    java.lang.Double.isFinite(x) && java.lang.Double.isFinite(y)

  /** Whether it is a point of two coordinates, in the byte order of this machine. */
  private def isPlainPoint(bytes: Array[Byte]): Boolean =
    bytes.length == 21 && bytes(0) == WkbReader.Native &&
      Platform.getInt(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + 1) == WkbReader.Point

  private def number(bytes: Array[Byte], at: Int): Double =
    Platform.getDouble(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at)
}

object BoxEnd {
  case object MinX extends BoxEnd("min_x") {
    override protected def of(extremes: Extremes): Double = extremes.minX
    override protected def ofFinite(x: Double, y: Double): Double = x
    override protected def ofAll: Double = Double.NegativeInfinity
  }
  case object MinY extends BoxEnd("min_y") {
    override protected def of(extremes: Extremes): Double = extremes.minY
    override protected def ofFinite(x: Double, y: Double): Double = y
    override protected def ofAll: Double = Double.NegativeInfinity
  }
  case object MaxX extends BoxEnd("max_x") {
    override protected def of(extremes: Extremes): Double = extremes.maxX
    override protected def ofFinite(x: Double, y: Double): Double = x
    override protected def ofAll: Double = Double.PositiveInfinity
  }
  case object MaxY extends BoxEnd("max_y") {
    override protected def of(extremes: Extremes): Double = extremes.maxY
    override protected def ofFinite(x: Double, y: Double): Double = y
    override protected def ofAll: Double = Double.PositiveInfinity
  }
  case object Size extends BoxEnd("size") {
    override protected def of(extremes: Extremes): Double = math.max(
      ofFinite(extremes.minX, extremes.minY),
      ofFinite(extremes.maxX, extremes.maxY)
    )
    override protected def ofFinite(x: Double, y: Double): Double =
      math.max(math.abs(x), math.abs(y))
    override protected def ofAll: Double = Double.PositiveInfinity
  }
}

/** A coordinate in space of a point of longitude and latitude. Other geometries count as unreadable. */
final case class EarthEnd(globe: Globe, axis: Int, isLow: Boolean)
    extends BoxEnd(s"earth_${"xyz".charAt(axis)}") {
  override protected def of(extremes: Extremes): Double =
    if (extremes.minX.isNaN) Double.NaN
    else {
      Globe.fault(extremes.kind == WkbReader.Point, extremes.minY).foreach(extremes.unreadable)
      ofFinite(extremes.minX, extremes.minY)
    }

  override protected def has(x: Double, y: Double): Boolean =
    super.has(x, y) && Globe.fault(isPoint = true, y).isEmpty

  override protected def ofFinite(x: Double, y: Double): Double = globe.coordinate(x, y, axis)

  override protected def ofAll: Double =
    if (isLow) Double.NegativeInfinity else Double.PositiveInfinity
}
