package thetajoin.functions.spatial

import scala.collection.mutable

import org.apache.spark.unsafe.Platform

import org.locationtech.jts.algorithm.CGAlgorithmsDD

/**
 * The edges of lines or polygons in flat arrays. Edges that follow each other are near each other: of every 16 of
 * them, and of every 16 such blocks, the bounding box is known, so that few edges are looked at.
 *
 * @param bytes positions as two numbers each, in the byte order of this machine; a ring ends with its first position
 * @param blocks where the first position of each block is and its last, which may be the first of the next
 * @param paths where the first position of each path is
 * @param boxes of each block: the least x and y, and the greatest
 * @param wideBoxes the same of every 16 blocks
 */
private[spatial] final class Edges private (
    bytes: Array[Byte],
    blocks: Array[Int],
    paths: Array[Int],
    private val boxes: Array[Double],
    private val wideBoxes: Array[Double]
) {
  import Edges._

  private val count = blocks.length / 2

  /**
   * Where a point lies against polygons: [[Inside]], [[OnEdge]] or [[Outside]]. It is inside if a ray to the right of
   * it crosses an odd number of edges: JTS's `RayCrossingCounter` over all edges gives the same.
   */
  def locate(x: Double, y: Double): Int = {
    var crossed = 0
    if (count == 1) crossed = crossings(0, x, y)
    else {
      var wide = 0
      while (wide < wideBoxes.length / 4) {
        if (mayCross(wideBoxes, wide, x, y)) {
          var block = wide * Size
          val last = math.min(block + Size, count)
          while (block < last) {
            if (mayCross(boxes, block, x, y)) {
              val crossedHere = crossings(block, x, y)
              if (crossedHere < 0) return OnEdge
              crossed += crossedHere
            }
            block += 1
          }
        }
        wide += 1
      }
    }
    location(crossed)
  }

  private def mayCross(boxes: Array[Double], box: Int, x: Double, y: Double): Boolean =
    y >= boxes(4 * box + 1) && y <= boxes(4 * box + 3) && x <= boxes(4 * box + 2)

  private def crossings(block: Int, x: Double, y: Double): Int =
    Edges.crossings(bytes, blocks(2 * block), blocks(2 * block + 1), x, y)

  /** Whether an edge of these has a point in common with one of the others. */
  def meet(others: Edges): Boolean = {
    var wide = 0
    while (wide < wideBoxes.length / 4) {
      var otherWide = 0
      while (otherWide < others.wideBoxes.length / 4) {
        if (overlap(wideBoxes, wide, others.wideBoxes, otherWide)) {
          val last = math.min((wide + 1) * Size, count)
          val otherLast = math.min((otherWide + 1) * Size, others.count)
          if (blocksMeet(wide * Size, last, others, otherWide * Size, otherLast)) return true
        }
        otherWide += 1
      }
      wide += 1
    }
    false
  }

  private def blocksMeet(
      from: Int,
      until: Int,
      others: Edges,
      otherFrom: Int,
      otherUntil: Int
  ): Boolean = {
    var block = from
    while (block < until) {
      var other = otherFrom
      while (other < otherUntil) {
        if (overlap(boxes, block, others.boxes, other) && edgesMeet(block, others, other))
          return true
        other += 1
      }
      block += 1
    }
    false
  }

  private def edgesMeet(block: Int, others: Edges, other: Int): Boolean = {
    val box = others.boxes
    var at = blocks(2 * block)
    val last = blocks(2 * block + 1)
    while (at < last) {
      val (x1, y1) = (xAt(bytes, at), yAt(bytes, at))
      val (x2, y2) = (xAt(bytes, at + PositionSize), yAt(bytes, at + PositionSize))
      if (
        math.min(x1, x2) <= box(4 * other + 2) && math.max(x1, x2) >= box(4 * other) &&
        math.min(y1, y2) <= box(4 * other + 3) && math.max(y1, y2) >= box(4 * other + 1) &&
        others.meet(other, x1, y1, x2, y2)
      ) return true
      at += PositionSize
    }
    false
  }

  /** Whether an edge of a block meets this one. */
  private def meet(block: Int, x1: Double, y1: Double, x2: Double, y2: Double): Boolean = {
    var at = blocks(2 * block)
    val last = blocks(2 * block + 1)
    while (at < last) {
      val (x3, y3) = (xAt(bytes, at), yAt(bytes, at))
      val (x4, y4) = (xAt(bytes, at + PositionSize), yAt(bytes, at + PositionSize))
      if (Edges.meet(x1, y1, x2, y2, x3, y3, x4, y4)) return true
      at += PositionSize
    }
    false
  }

  /** Whether the first position of one of the paths, or of all of them, is within polygons. */
  def startIn(polygons: Edges, all: Boolean): Boolean = {
    var i = 0
    while (i < paths.length) {
      val isIn = polygons.locate(xAt(bytes, paths(i)), yAt(bytes, paths(i))) != Outside
      if (isIn != all) return isIn
      i += 1
    }
    all
  }
}

private[spatial] object Edges {
  final val Inside = 0
  final val OnEdge = 1
  final val Outside = 2

  /** Edges of a block, and blocks of a wide one. */
  private final val Size = 16

  /** Bytes of a position. */
  private final val PositionSize = 16

  /** Where the ring of a polygon of one ring begins. */
  private final val FirstOfOnlyRing = 13

  /** From so many edges on, blocks are looked at rather than all edges. */
  private final val ManyEdges = 64

  private def xAt(bytes: Array[Byte], at: Int): Double =
    Platform.getDouble(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at)

  private def yAt(bytes: Array[Byte], at: Int): Double =
    Platform.getDouble(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + at + 8)

  private def location(crossed: Int): Int =
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
  private def crossings(bytes: Array[Byte], first: Int, last: Int, x: Double, y: Double): Int = {
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

  private def overlap(a: Array[Double], i: Int, b: Array[Double], j: Int): Boolean =
    a(4 * i) <= b(4 * j + 2) && a(4 * i + 2) >= b(4 * j) &&
      a(4 * i + 1) <= b(4 * j + 3) && a(4 * i + 3) >= b(4 * j + 1)

  /** Whether two edges have a point in common. */
  private def meet(
      x1: Double,
      y1: Double,
      x2: Double,
      y2: Double,
      x3: Double,
      y3: Double,
      x4: Double,
      y4: Double
  ): Boolean =
    math.min(x1, x2) <= math.max(x3, x4) && math.max(x1, x2) >= math.min(x3, x4) &&
      math.min(y1, y2) <= math.max(y3, y4) && math.max(y1, y2) >= math.min(y3, y4) &&
      areApart(x1, y1, x2, y2, x3, y3, x4, y4) && areApart(x3, y3, x4, y4, x1, y1, x2, y2)

  /** Whether two points are not on one side of a line. */
  private def areApart(
      x1: Double,
      y1: Double,
      x2: Double,
      y2: Double,
      x3: Double,
      y3: Double,
      x4: Double,
      y4: Double
  ): Boolean =
    CGAlgorithmsDD.orientationIndex(x1, y1, x2, y2, x3, y3) *
      CGAlgorithmsDD.orientationIndex(x1, y1, x2, y2, x4, y4) <= 0

  /** Of the lines or polygons in well-known binary that can be read. A ring that is open is closed. */
  def apply(bytes: Array[Byte], areRings: Boolean): Edges = {
    val written = new PathsReader(bytes)
    written.read(): Unit
    // Bytes in the usual form are read where they lie.
    if (written.areUsual(areRings)) of(bytes, written.starts.result(), written.ends.result())
    else {
      val copied = new PathsCopier(bytes, areRings, written.size)
      copied.read(): Unit
      of(copied.bytes, copied.starts.result(), copied.ends.result())
    }
  }

  /** @param ends where the last position of each path is */
  private def of(bytes: Array[Byte], starts: Array[Int], ends: Array[Int]): Edges = {
    val blockSize = Size * PositionSize
    var count = 0
    var path = 0
    while (path < starts.length) {
      count += (ends(path) - starts(path) + blockSize - 1) / blockSize
      path += 1
    }
    val blocks = new Array[Int](2 * count)
    val boxes = new Array[Double](4 * count)
    var block = 0
    path = 0
    while (path < starts.length) {
      var first = starts(path)
      while (first < ends(path)) {
        val last = math.min(first + blockSize, ends(path))
        blocks(2 * block) = first
        blocks(2 * block + 1) = last
        open(boxes, block)
        var at = first
        while (at <= last) {
          widen(boxes, block, xAt(bytes, at), yAt(bytes, at))
          at += PositionSize
        }
        block += 1
        first = last
      }
      path += 1
    }
    val wide = new Array[Double](4 * ((count + Size - 1) / Size))
    block = 0
    while (block < count) {
      if (block % Size == 0) open(wide, block / Size)
      widen(wide, block / Size, boxes(4 * block), boxes(4 * block + 1))
      widen(wide, block / Size, boxes(4 * block + 2), boxes(4 * block + 3))
      block += 1
    }
    new Edges(bytes, blocks, starts, boxes, wide)
  }

  private def open(boxes: Array[Double], box: Int): Unit = {
    boxes(4 * box) = Double.PositiveInfinity
    boxes(4 * box + 1) = Double.PositiveInfinity
    boxes(4 * box + 2) = Double.NegativeInfinity
    boxes(4 * box + 3) = Double.NegativeInfinity
  }

  private def widen(boxes: Array[Double], box: Int, x: Double, y: Double): Unit = {
    boxes(4 * box) = math.min(boxes(4 * box), x)
    boxes(4 * box + 1) = math.min(boxes(4 * box + 1), y)
    boxes(4 * box + 2) = math.max(boxes(4 * box + 2), x)
    boxes(4 * box + 3) = math.max(boxes(4 * box + 3), y)
  }

  /** Where paths lie. */
  private final class PathsReader(bytes: Array[Byte]) extends WkbReader(bytes) {
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

  private final class PathsCopier(source: Array[Byte], areRings: Boolean, size: Int)
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
}
