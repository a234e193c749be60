package thetajoin

/**
 * Numbers that were tuned by measurement. They are no settings: a user has no reason to know them. A test sets them,
 * so that few rows suffice where many are usual.
 */
object Yardsticks {

  final class Yardstick private[Yardsticks] (private[Yardsticks] val usual: Long) {
    @volatile private[Yardsticks] var value: Long = usual
    def apply(): Long = value
  }

  /**
   * From so many bytes of an ordered index on, probe rows are sorted in batches ahead of the look-ups. A smaller
   * index stays in a core's cache. Decision 13 has the measurement.
   */
  val SortedIndexBytes: Yardstick = new Yardstick(4L << 20)

  /**
   * From so many build rows on it is worth the while to ask whether an index of the equality keys alone serves.
   * Decision 13.
   */
  val IndexOfKeysRows: Yardstick = new Yardstick(4096)

  private val byName = Map(
    "sortedIndexBytes" -> SortedIndexBytes,
    "indexOfKeysRows" -> IndexOfKeysRows
  )

  /** For tests, until [[reset]]. */
  def set(name: String, value: Long): Unit = byName(name).value = value

  def reset(name: String): Unit = byName(name).value = byName(name).usual
}
