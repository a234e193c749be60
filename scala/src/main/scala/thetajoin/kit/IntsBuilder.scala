package thetajoin.kit

import java.util.Arrays

/** A growing array of numbers of 32 bits, such as the numbers of rows. */
final class IntsBuilder {
  private var values = new Array[Int](64)
  private var size = 0

  def length: Int = size
  def bytes: Long = 4L * values.length

  def add(value: Int): Unit = {
    if (size == values.length) values = Arrays.copyOf(values, LongOrder.grown(size))
    values(size) = value
    size += 1
  }

  /** Starts afresh in the same array. */
  def clear(): Unit = size = 0

  /** The array itself. Its first [[length]] elements are in use. The next [[add]] may replace it with another one. */
  def array: Array[Int] = values

  /** A copy of the elements in use. */
  def result(): Array[Int] = Arrays.copyOf(values, size)
}
