package thetajoin.aggregate

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import thetajoin.contract.PositionSets

/** Buffers of aggregate functions for each of the sets that an index gives in place of their rows. */
private[aggregate] final class SetBuffers private (buffers: Array[Byte], size: Int) {

  /** Points a row to the buffers of a set. */
  def point(row: UnsafeRow, set: Int): Unit =
    row.pointTo(buffers, Platform.BYTE_ARRAY_OFFSET + set.toLong * size, size)
}

private[aggregate] object SetBuffers {

  /**
   * Sets are the leaves of a binary tree. A position is added to the highest nodes that have none but its own sets
   * below them, and then each node is added to the two below it.
   *
   * @param folded whose row is pointed to one node after another
   * @param add adds the build row of a position to that row
   */
  def apply(
      sets: PositionSets,
      positions: Int,
      folded: FoldedRow,
      add: Int => Unit
  ): SetBuffers = {
    val (leaves, size) = (sets.count, folded.empty.getSizeInBytes)
    val nodes = new Array[Byte](Math.multiplyExact(Math.multiplyExact(2, leaves), size))
    def at(node: Int): Long = Platform.BYTE_ARRAY_OFFSET + node.toLong * size
    def addTo(node: Int, position: Int): Unit = {
      folded.row.pointTo(nodes, at(node), size)
      add(position)
    }
    var node = 0
    while (node < 2 * leaves) {
      folded.empty.writeToMemory(nodes, at(node))
      node += 1
    }
    var p = 0
    while (p < positions) {
      var (left, right) = (sets.first(p) + leaves, sets.end(p) + leaves)
      while (left < right) {
        if ((left & 1) == 1) {
          addTo(left, p)
          left += 1
        }
        if ((right & 1) == 1) {
          right -= 1
          addTo(right, p)
        }
        left >>= 1
        right >>= 1
      }
      p += 1
    }
    val above = new UnsafeRow(folded.empty.numFields)
    node = 2
    while (node < 2 * leaves) {
      above.pointTo(nodes, at(node >> 1), size)
      folded.row.pointTo(nodes, at(node), size)
      folded.add(above)
      node += 1
    }
    new SetBuffers(java.util.Arrays.copyOfRange(nodes, leaves * size, nodes.length), size)
  }
}
