package thetajoin.kit

import java.util.Arrays

/** A growing array of row numbers. */
final class IntsBuilder {
  private var values = new Array[Int](64)
  private var size = 0

  def length: Int = size

  def add(value: Int): Unit = {
    if (size == values.length) values = Arrays.copyOf(values, LongOrder.grown(size))
    values(size) = value
    size += 1
  }

  def clear(): Unit = size = 0

  /** The array itself, of which the first [[length]] elements are in use. */
  def array: Array[Int] = values

  def result(): Array[Int] = Arrays.copyOf(values, size)
}
