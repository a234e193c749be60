package thetajoin.kit

import java.util.Arrays

/** A growing array of numbers of 64 bits, such as a key of each build row. */
final class LongsBuilder {
  private var values = new Array[Long](64)
  private var size = 0

  def length: Int = size

  def add(value: Long): Unit = {
    if (size == values.length) values = Arrays.copyOf(values, LongOrder.grown(size))
    values(size) = value
    size += 1
  }

  /** The array itself, of which the first [[length]] elements are in use. The next [[add]] may take another one. */
  def array: Array[Long] = values

  /** The numbers in the order of these row numbers. */
  def inOrder(order: Array[Int]): Array[Long] = LongOrder.at(values, order)
}
