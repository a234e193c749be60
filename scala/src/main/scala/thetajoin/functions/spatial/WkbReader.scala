package thetajoin.functions.spatial

import java.nio.ByteOrder

import scala.util.control.NoStackTrace

import org.apache.spark.unsafe.Platform

/** Why bytes are no geometry in well-known binary. */
private[spatial] final class UnreadableWkb(val why: String, val bytes: Array[Byte])
    extends RuntimeException(why)
    with NoStackTrace

/**
 * Walks through the coordinates of a geometry in well-known binary, as OGC and ISO define it, or in EWKB, in either
 * byte order. Third and fourth coordinates and SRIDs are skipped. `POINT(NaN NaN)` is the empty point; elsewhere a
 * coordinate that is not finite makes a geometry unreadable.
 */
private[spatial] abstract class WkbReader(bytes: Array[Byte]) {
  import WkbReader._

  private var at = 0

  /** Whether numbers are in the other byte order than this machine's. */
  private var isReversed = false

  /** Bytes from one position to the next. */
  private var stride = 0

  /** Takes `count` positions, which lie from here on: a point, a line or a ring. */
  protected def path(from: Int, count: Int): Unit

  protected final def x(from: Int, i: Int): Double = coordinate(from + i * stride)
  protected final def y(from: Int, i: Int): Double = coordinate(from + i * stride + 8)

  /** Whether positions are two numbers in the byte order of this machine. */
  protected final def isUsual: Boolean = stride == 16 && !isReversed

  protected final def isClosed(from: Int, count: Int): Boolean =
    x(from, 0) == x(from, count - 1) && y(from, 0) == y(from, count - 1)

  /** Reads all of it, and returns its type as numbered by OGC: one of 1 to 7. */
  final def read(): Int = geometry(0)

  private def geometry(depth: Int): Int = {
    if (depth > DeepestCollection) unreadable("its collections are nested too deeply")
    need(5)
    isReversed = bytes(at) match {
      case order @ (0 | 1) => order != Native
      case other => unreadable(s"its byte order is $other, not 0 or 1")
    }
    at += 1
    val code = int()
    val number = code & ~ExtendedFlags
    val dimensions = number / 1000
    val hasZ = (code & ExtendedZ) != 0 || dimensions == 1 || dimensions == 3
    val hasM = (code & ExtendedM) != 0 || dimensions == 2 || dimensions == 3
    if (dimensions > 3) unsupported(number)
    if ((code & ExtendedSrid) != 0) int(): Unit
    stride = 16 + (if (hasZ) 8 else 0) + (if (hasM) 8 else 0)
    val kind = number % 1000
    kind match {
      case Point => point()
      case Line => positions()
      case Polygon => repeat(count(4))(positions())
      case MultiPoint => repeat(count(5))(part(Point, depth))
      case MultiLine => repeat(count(5))(part(Line, depth))
      case MultiPolygon => repeat(count(5))(part(Polygon, depth))
      case Collection => repeat(count(5))(geometry(depth + 1): Unit)
      case _ => unsupported(number)
    }
    kind
  }

  private def part(expected: Int, depth: Int): Unit = {
    val kind = geometry(depth + 1)
    if (kind != expected) unreadable(s"a part of type $kind stands where $expected belongs")
  }

  private def point(): Unit = {
    need(stride)
    val isEmpty = x(at, 0).isNaN && y(at, 0).isNaN
    if (!isEmpty) checked(1)
    at += stride
  }

  private def positions(): Unit = {
    val n = count(stride)
    checked(n)
    at += n * stride
  }

  private def checked(n: Int): Unit = {
    var i = 0
    while (i < n) {
      if (!java.lang.Double.isFinite(x(at, i)) || !java.lang.Double.isFinite(y(at, i)))
        unreadable(s"it has the coordinates (${x(at, i)}, ${y(at, i)})")
      i += 1
    }
    path(at, n)
  }

  private def repeat(times: Int)(step: => Unit): Unit = {
    var i = 0
    while (i < times) {
      step
      i += 1
    }
  }

  /** How many parts follow, each of so many bytes at least. */
  private def count(least: Int): Int = {
    val n = int()
    if (n < 0 || n.toLong * least > bytes.length - at) unreadable("it ends too early")
    n
  }

  private def int(): Int = {
    need(4)
    val bits = Platform.getInt(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at)
    at += 4
    if (isReversed) Integer.reverseBytes(bits) else bits
  }

  private def coordinate(offset: Int): Double = {
    val bits = Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + offset)
    java.lang.Double.longBitsToDouble(if (isReversed) java.lang.Long.reverseBytes(bits) else bits)
  }

  private def need(size: Int): Unit =
    if (bytes.length - at < size) unreadable("it ends too early")

  private def unsupported(number: Int): Nothing =
    unreadable(s"geometries of type $number are not supported")

  final def unreadable(why: String): Nothing = throw new UnreadableWkb(why, bytes)
}

private[spatial] object WkbReader {
  final val Point = 1
  final val Line = 2
  final val Polygon = 3
  final val MultiPoint = 4
  final val MultiLine = 5
  final val MultiPolygon = 6
  final val Collection = 7

  /** The byte order of this machine. */
  val Native: Byte = if (ByteOrder.nativeOrder == ByteOrder.BIG_ENDIAN) 0 else 1

  private final val ExtendedZ = 0x80000000
  private final val ExtendedM = 0x40000000
  private final val ExtendedSrid = 0x20000000
  private final val ExtendedFlags = ExtendedZ | ExtendedM | ExtendedSrid
  private final val DeepestCollection = 64

  /** A point of two coordinates. */
  def pointBytes(x: Double, y: Double): Array[Byte] = {
    val bytes = new Array[Byte](21)
    bytes(0) = Native
    Platform.putInt(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + 1, Point)
    Platform.putDouble(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + 5, x)
    Platform.putDouble(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + 13, y)
    bytes
  }
}
