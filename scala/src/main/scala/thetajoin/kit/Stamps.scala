package thetajoin.kit

import java.util.Arrays

/** Which of the numbers from 0 to `size` have been met since the last [[restart]], which costs nothing. For one task. */
final class Stamps(size: Int) {
  private val stamps = new Array[Int](size)
  private var current = 1

  def restart(): Unit =
    if (current == Int.MaxValue) {
      Arrays.fill(stamps, 0)
      current = 1
    } else current += 1

  /** Whether the number had not been met before. */
  def add(number: Int): Boolean = {
    val isNew = stamps(number) != current
    stamps(number) = current
    isNew
  }

  def contains(number: Int): Boolean = stamps(number) == current
}
