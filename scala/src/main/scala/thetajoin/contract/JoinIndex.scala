package thetajoin.contract

/** Immutable, and shared by all tasks of a JVM. Positions are positions of [[OrderedIndex.order]]. */
abstract class JoinIndex extends Serializable {
  def bytes: Long

  /** A cursor for one task. */
  def newProber(): Prober

  /** One for probe rows in sorted batches, if the index has such. */
  def newBatchProber(): Option[Prober with BatchProber] = newProber() match {
    case prober: BatchProber => Some(prober)
    case _ => None
  }

  /** Sets of candidates, if the index has such. They are kept for all tasks of a JVM: what takes time is best lazy. */
  def positionSets: Option[PositionSets] = None
}

/**
 * Sets of positions. A prober gives a set in place of its rows, where only aggregates of candidates are needed: the
 * aggregates of a set are made once. A position may be in several sets, whose numbers are neighbours.
 */
abstract class PositionSets {

  /** Sets are numbered from 0. */
  def count: Int

  /** The first set of a position, and the end of its sets: it is in none if the end is not above the first. */
  def first(position: Int): Int
  def end(position: Int): Int

  /** How many rows a set has. */
  def rows(set: Int): Int

  /**
   * The candidates of a key as runs of positions and as sets, no row twice. The set s is the run `[n + s, n + s + 1)`,
   * where n is the number of positions. A key has the form that it has for [[JoinIndex.newProber]].
   */
  def newProber(): Prober
}

/**
 * An index by a first key of 64 bits, which no build row has below `least` or above `greatest`: a probe row whose own
 * first key is outside has no candidate. There are no build rows at all if `least` is above `greatest`.
 */
trait KeyBounds { this: JoinIndex =>
  def least: Long
  def greatest: Long
}

/**
 * An index in which a probe row has one candidate at most, or needs one at most, whatever the build rows. Keys are
 * numbers of 64 bits. Generated code calls the final class of the index. Probers give the same.
 */
trait LongsLookup { this: JoinIndex =>

  /** The position of the candidate; -1 without one. The array is used again for the next row. */
  def find(keys: Array[Long]): Int
}

/**
 * As [[LongsLookup]] for other keys: of a single string or binary by the bytes of the value, else by the bytes of the
 * key row. `size` bytes lie at `offset` of the object `base`, as for `Platform`.
 */
trait BytesLookup { this: JoinIndex =>
  def find(base: AnyRef, offset: Long, size: Int): Int
}
