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
}

/** An index that knows by itself whether a key of 64 bits has a candidate. Generated code calls the final class. */
trait LongMembership { this: JoinIndex =>
  def contains(key: Long): Boolean
}

/**
 * An index by a first key of 64 bits, which no build row has below `least` or above `greatest`: a probe row whose own
 * first key is outside has no candidate. There are no build rows at all if `least` is above `greatest`.
 */
trait KeyBounds { this: JoinIndex =>
  def least: Long
  def greatest: Long
}

/** As [[LongMembership]] for several keys of 64 bits. */
trait LongsMembership { this: JoinIndex =>
  def contains(keys: Array[Long]): Boolean
}

/**
 * An index in which a probe row has one candidate at most, which generated code asks its class for. Keys are numbers
 * of 64 bits. Whether an index is one may depend on the build rows; its probers give the same.
 */
trait LongsLookup { this: JoinIndex =>

  /** The position of the candidate; -1 without one. The array is used again for the next row. */
  def find(keys: Array[Long]): Int
}

/** A [[LongsLookup]] that can also be asked for probe rows in sorted batches: see [[BatchProber]]. */
trait BatchLookup { this: JoinIndex with LongsLookup =>

  /** The position of the candidate within a group; -1 without one. `second` is not read if there is one number. */
  def find(group: Int, first: Long, second: Long): Int
}

/**
 * An index that knows by itself whether a key has a candidate: of a single string or binary by the bytes of the
 * value, of other keys by the bytes of their row. `size` bytes lie at `offset` of the object `base`, as for
 * `Platform`.
 */
trait BytesMembership { this: JoinIndex =>
  def contains(base: AnyRef, offset: Long, size: Int): Boolean
}
