package thetajoin.kit

import java.util.Arrays

import thetajoin.rowstore.Pieces

/**
 * A growing list of numbers of 64 bits, such as a key of each build row. It grows by pieces, so that nothing is held
 * twice before [[array]] is asked for.
 */
final class LongsBuilder {
  private val full = new Pieces
  private var open = new Array[Long](64)
  private var inOpen = 0

  def length: Int = full.length + inOpen
  def bytes: Long = 8L * (full.length + open.length)

  def add(value: Long): Unit = {
    if (inOpen == open.length) grow()
    open(inOpen) = value
    inOpen += 1
  }

  private def grow(): Unit =
    if (inOpen < Pieces.Length) open = Arrays.copyOf(open, inOpen * 2)
    else {
      full.add(open)
      open = new Array[Long](Pieces.Length)
      inOpen = 0
    }

  /**
   * All numbers in one array. Its first [[length]] elements are in use. The next [[add]] may replace it with another
   * one.
   */
  def array: Array[Long] = {
    if (full.length > 0) {
      val whole = new Array[Long](length)
      full.moveTo(whole, open, inOpen)
      open = whole
      inOpen = whole.length
    }
    open
  }

  /** The numbers in the order of these row numbers. */
  def inOrder(order: Array[Int]): Array[Long] = LongOrder.at(array, order)
}
