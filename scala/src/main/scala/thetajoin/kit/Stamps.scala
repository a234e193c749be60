package thetajoin.kit

import java.util.Arrays

/**
 * Tells which numbers have been met since the last [[restart]], which costs nothing. So a prober gives each build row
 * once, though it finds some by several ways. For one task.
 *
 * @param size for how many numbers, from 0, there is room at first
 */
final class Stamps(size: Int) {
  private var stamps = new Array[Int](math.max(size, 1))
  private var current = 1

  def restart(): Unit =
    if (current == Int.MaxValue) {
      Arrays.fill(stamps, 0)
      current = 1
    } else current += 1

  /** Whether the number had not been met before. */
  def add(number: Int): Boolean = {
    if (number >= stamps.length)
      stamps = Arrays.copyOf(stamps, math.max(number + 1, LongOrder.grown(stamps.length)))
    val isNew = stamps(number) != current
    stamps(number) = current
    isNew
  }

  def contains(number: Int): Boolean = number < stamps.length && stamps(number) == current
}
