package thetajoin.spatial

import scala.collection.mutable

import org.locationtech.jts.algorithm.CGAlgorithmsDD

/**
 * The edges of polygons in flat arrays, and where points lie against them: a point is inside if a ray to the right of it crosses an odd
 * number of edges. It answers as JTS's `RayCrossingCounter` does over all edges.
 *
 * Edges that follow each other are near each other. Of every 16 of them, and of every 16 such blocks, is known where a ray can cross
 * one, so that it looks at few edges.
 *
 * @param positions x and y of each, ring after ring; a ring ends with its first position
 * @param blocks the first position of each block and its last, which may be the first of the next
 */
private[spatial] final class Area private (positions: Array[Double], blocks: Array[Int]) {
  import Area._

  /** Of each block: the least and the greatest y, and the greatest x. */
  private val reaches = {
    val reaches = new Array[Double](3 * (blocks.length / 2))
    for (block <- 0 until blocks.length / 2) {
      val all = blocks(2 * block) to blocks(2 * block + 1)
      reaches(3 * block) = all.map(i => positions(2 * i + 1)).min
      reaches(3 * block + 1) = all.map(i => positions(2 * i + 1)).max
      reaches(3 * block + 2) = all.map(i => positions(2 * i)).max
    }
    reaches
  }

  /** The same of every 16 blocks. */
  private val wideReaches = {
    val count = (blocks.length / 2 + Size - 1) / Size
    val wide = new Array[Double](3 * count)
    for (block <- 0 until count) {
      val some = block * Size until math.min((block + 1) * Size, blocks.length / 2)
      wide(3 * block) = some.map(i => reaches(3 * i)).min
      wide(3 * block + 1) = some.map(i => reaches(3 * i + 1)).max
      wide(3 * block + 2) = some.map(i => reaches(3 * i + 2)).max
    }
    wide
  }

  /** [[Inside]], [[OnEdge]] or [[Outside]]. */
  def locate(x: Double, y: Double): Int = {
    var crossed = 0
    var wide = 0
    while (wide < wideReaches.length / 3) {
      if (mayCross(wideReaches, wide, x, y)) {
        var block = wide * Size
        val last = math.min(block + Size, blocks.length / 2)
        while (block < last) {
          if (mayCross(reaches, block, x, y)) {
            val crossedHere = crossings(block, x, y)
            if (crossedHere < 0) return OnEdge
            crossed += crossedHere
          }
          block += 1
        }
      }
      wide += 1
    }
    if ((crossed & 1) == 1) Inside else Outside
  }

  private def mayCross(reaches: Array[Double], block: Int, x: Double, y: Double): Boolean =
    y >= reaches(3 * block) && y <= reaches(3 * block + 1) && x <= reaches(3 * block + 2)

  /** How many edges of a block the ray crosses; -1 if the point is on one. */
  private def crossings(block: Int, x: Double, y: Double): Int = {
    var crossed = 0
    var i = blocks(2 * block)
    val last = blocks(2 * block + 1)
    while (i < last) {
      val x1 = positions(2 * i)
      val y1 = positions(2 * i + 1)
      val x2 = positions(2 * i + 2)
      val y2 = positions(2 * i + 3)
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
      i += 1
    }
    crossed
  }
}

private[spatial] object Area {
  final val Inside = 0
  final val OnEdge = 1
  final val Outside = 2

  private final val Size = 16

  /** Of the polygons in well-known binary that can be read. A ring that is open is closed. */
  def apply(bytes: Array[Byte]): Area = {
    val edges = new Edges(bytes)
    new Area(edges.positions.result(), edges.blocks.result())
  }

  private final class Edges(bytes: Array[Byte]) extends WkbReader(bytes) {
    val positions = new mutable.ArrayBuilder.ofDouble
    val blocks = new mutable.ArrayBuilder.ofInt
    private var added = 0

    positions.sizeHint(bytes.length / 8)
    read(): Unit

    override protected def path(from: Int, count: Int): Unit =
      if (count > 0) {
        val first = added
        var i = 0
        while (i < count) {
          add(x(from, i), y(from, i))
          i += 1
        }
        val isOpen = x(from, 0) != x(from, count - 1) || y(from, 0) != y(from, count - 1)
        if (isOpen) add(x(from, 0), y(from, 0))
        for (start <- first until math.max(added - 1, first + 1) by Size) {
          blocks += start
          blocks += math.min(start + Size, added - 1)
        }
      }

    private def add(x: Double, y: Double): Unit = {
      positions += x
      positions += y
      added += 1
    }
  }
}
