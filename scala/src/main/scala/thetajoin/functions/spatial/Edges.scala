package thetajoin.functions.spatial

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
  import RayCrossings._

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
    RayCrossings.crossings(bytes, blocks(2 * block), blocks(2 * block + 1), x, y)

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
  import RayCrossings.{PositionSize, xAt, yAt}

  /** Edges of a block, and blocks of a wide one. */
  private final val Size = 16

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
}
