package thetajoin.aggregate

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Buffers of aggregate functions over each block of positions, and over each pair of neighbours below. A run needs two
 * of each level at most. They take some bytes a build row.
 *
 * @param block so many positions have buffers of their own
 */
final class RunTree private (
    levels: Array[Array[Byte]],
    block: Int,
    fields: Int,
    size: Int
) {
  private def nodes(level: Int): Int = levels(level).length / size

  /** Visits buffers of all positions in the blocks `[from, until)`, each position in one of them. */
  def foreach(from: Int, until: Int)(visit: UnsafeRow => Unit): Unit = {
    val row = new UnsafeRow(fields)
    var (left, right, level) = (from, until, 0)
    while (left < right) {
      if ((left & 1) == 1) {
        visit(at(row, level, left))
        left += 1
      }
      if ((right & 1) == 1) {
        right -= 1
        visit(at(row, level, right))
      }
      left >>= 1
      right >>= 1
      level += 1
    }
  }

  /** How many positions are in blocks. */
  def positions: Int = nodes(0) * block

  private def at(row: UnsafeRow, level: Int, node: Int): UnsafeRow = {
    row.pointTo(levels(level), Platform.BYTE_ARRAY_OFFSET + node.toLong * size, size)
    row
  }
}

object RunTree {

  /**
   * @param blocks how many there are
   * @param block how many positions each has
   * @param ofBlock gives the buffers of a block, in the same row for each
   * @param both gives the buffers of two of them together, in the same row each time
   */
  def apply(
      blocks: Int,
      block: Int,
      fields: Int,
      size: Int,
      ofBlock: Int => UnsafeRow,
      both: (UnsafeRow, UnsafeRow) => UnsafeRow
  ): RunTree = {
    def level(nodes: Int)(of: Int => UnsafeRow): Array[Byte] = {
      val bytes = new Array[Byte](Math.multiplyExact(nodes, size))
      var node = 0
      while (node < nodes) {
        of(node).writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + node.toLong * size)
        node += 1
      }
      bytes
    }
    val (left, right) = (new UnsafeRow(fields), new UnsafeRow(fields))
    val levels = Iterator.iterate(level(blocks)(ofBlock)) { below =>
      level(below.length / size / 2) { node =>
        val start = Platform.BYTE_ARRAY_OFFSET + 2L * node * size
        left.pointTo(below, start, size)
        right.pointTo(below, start + size, size)
        both(left, right)
      }
    }.takeWhile(_.nonEmpty)
    new RunTree(levels.toArray, block, fields, size)
  }
}
