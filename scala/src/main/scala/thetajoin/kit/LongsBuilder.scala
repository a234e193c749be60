package thetajoin.kit

import java.util.Arrays

import scala.collection.mutable

/**
 * A growing list of numbers of 64 bits, such as a key of each build row. It grows by pieces, so that nothing is held twice before
 * [[array]] is asked for.
 */
final class LongsBuilder {
  import LongsBuilder._

  private val full = mutable.ArrayBuffer.empty[Array[Long]]
  private var inFull = 0
  private var open = new Array[Long](64)
  private var inOpen = 0

  def length: Int = inFull + inOpen

  def add(value: Long): Unit = {
    if (inOpen == open.length) grow()
    open(inOpen) = value
    inOpen += 1
  }

  private def grow(): Unit =
    if (inOpen < PieceLength) open = Arrays.copyOf(open, inOpen * 2)
    else {
      full += open
      inFull += inOpen
      open = new Array[Long](PieceLength)
      inOpen = 0
    }

  /** All numbers in one array, of which the first [[length]] elements are in use. The next [[add]] may take another one. */
  def array: Array[Long] = {
    if (full.nonEmpty) {
      val whole = new Array[Long](length)
      var at = 0
      full.indices.foreach { i =>
        System.arraycopy(full(i), 0, whole, at, full(i).length)
        at += full(i).length
        full(i) = null
      }
      System.arraycopy(open, 0, whole, at, inOpen)
      full.clear()
      inFull = 0
      open = whole
      inOpen = whole.length
    }
    open
  }

  /** The numbers in the order of these row numbers. */
  def inOrder(order: Array[Int]): Array[Long] = LongOrder.at(array, order)
}

private object LongsBuilder {
  private final val PieceLength = 1 << 15
}
