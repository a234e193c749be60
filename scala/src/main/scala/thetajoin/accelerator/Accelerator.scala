package thetajoin.accelerator

import scala.annotation.unused

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeRow}
import org.apache.spark.sql.catalyst.optimizer.BuildSide
import org.apache.spark.sql.types.DataType

import thetajoin.condition.{Conjunct, JoinShape}
import thetajoin.reason.Reason

/**
 * A way to find the candidates of a probe row: an index over the build side's keys. It knows nothing of rows,
 * join types or the plan; the driver does the rest. Implementations are stateless and have a constructor
 * without arguments.
 *
 * {{{
 *   offer    what of this condition would the index answer, and from which keys?
 *   build    keys of build rows go in, an immutable index and an order for the rows come out
 *   probe    a key goes in, runs of candidate positions come out
 * }}}
 *
 * The contract: the runs for a probe key cover every build row for which all conjuncts
 * that the offer serves hold, and every position at most once.
 */
trait Accelerator {

  /** Lower-case noun: the name in EXPLAIN and in `spark.thetajoin.accelerator.<id>.enabled`. */
  def id: String

  /** One sentence for the documentation. */
  def summary: String

  /** What this accelerator would serve of the join if `buildSide` were indexed, or why it would not. */
  def offer(shape: JoinShape, buildSide: BuildSide): Either[Reason, Offer]

  /**
   * An offer for a join that asks of a probe row only whether it has a match. A build row may be left out of the index if,
   * whenever it matches, one that stays does. `paired` are the conjuncts that read both sides.
   */
  def forExistence(
      offer: Offer,
      paired: Seq[Conjunct],
      @unused buildSide: BuildSide
  ): Offer =
    if (offer.checked(paired).isEmpty) offer.copy(spec = offer.spec.forExistence) else offer
}

/**
 * @param served the conjuncts (as in [[JoinShape.conjuncts]]) that the candidates answer
 * @param exact those of `served` that need not be checked again for a candidate. Only a conjunct whose keys
 *   can't fail may be here, unless the spec's [[IndexSpec.keyErrors]] are raised
 * @param buildKeys one-sided expressions over the build side, evaluated once a row
 * @param probeKeys one-sided expressions over the probe side that the index understands
 * @param spec how to build the index: constants only, so that equal joins get equal specs
 * @param cost expected candidates as a share of all pairs, 0.0 to 1.0; the lowest offer wins
 */
final case class Offer(
    served: Seq[Expression],
    exact: Seq[Expression],
    buildKeys: Seq[Expression],
    probeKeys: Seq[Expression],
    spec: IndexSpec,
    cost: Double
) {

  /** Of these conjuncts, those that are tested on candidates. */
  def checked(paired: Seq[Conjunct]): Seq[Conjunct] =
    paired.filterNot(conjunct => exact.contains(conjunct.source))
}

/** Makes index builders. Implemented by case classes over constants, since equal specs share one broadcast. */
trait IndexSpec extends Serializable {
  def newBuilder(keyTypes: Seq[DataType]): IndexBuilder

  /** Whether the index keeps fewer rows than it is given, and a task can tell some of those by [[newSeenKeys]]. */
  def isDistinct: Boolean = false

  /** Whether a row's candidates have equal keys, so that rows can be joined partition by partition. */
  def isPartitionable: Boolean = false

  /** How many of the last probe keys are numbers of which the index is ordered by one or two; see [[JoinIndex.pair]]. */
  def bounds: Int = 0

  /** For a task that has seen no row yet; asked only if [[isDistinct]]. */
  def newSeenKeys(keyTypes: Seq[DataType]): SeenKeys =
    throw new UnsupportedOperationException(s"$this keeps every row")

  /** Whether the builder holds each key once and nothing of other rows, whatever [[newSeenKeys]] leaves out before it. */
  def holdsKeysOnce: Boolean = false

  /** What becomes of a row whose key can't be evaluated. */
  def keyErrors: KeyErrors = KeyErrors.Held

  /** The same index where the join asks only whether a row has a candidate: it may then keep fewer rows. */
  def forExistence: IndexSpec = this
}

sealed trait KeyErrors

object KeyErrors {

  /** The row is a candidate of everything, and the residual raises the error if a pair needs it. */
  case object Held extends KeyErrors

  /** The query fails. For keys that Spark's own join would evaluate for every row. */
  case object Raised extends KeyErrors
}

/** The keys that a task has seen, so that it leaves out rows which the index would not keep. It may forget keys. */
abstract class SeenKeys {

  /** Whether the index may need the row of this key beside those seen before. */
  def isNew(key: UnsafeRow): Boolean

  /** For a single key of 64 bits. */
  def isNew(key: Long): Boolean
}

/** Takes the keys of build rows in arrival order. Rows with a null key or a key that failed never come here. */
abstract class IndexBuilder {

  /** `keys` is reused by the caller: copy what is kept. */
  def add(keys: InternalRow): Unit

  def finish(): OrderedIndex
}

/**
 * @param order the arrival numbers of rows, in the order in which the index wants them stored. A row that is
 *   left out is never a candidate
 */
final case class OrderedIndex(index: JoinIndex, order: Array[Int])

/** Immutable, and shared by all tasks of a JVM. Positions are those of [[OrderedIndex.order]]. */
abstract class JoinIndex extends Serializable {
  def bytes: Long

  /** A cursor for one task. */
  def newProber(): Prober

  /** How many different keys its rows have, of those that must be equal; 1 if there are none. */
  def keyCount: Int = 1

  /** Which of the spec's [[IndexSpec.bounds]] it is ordered by; the second is not read if there is one. */
  def pair: BoundPair = BoundPair.FirstTwo

  /** A smaller index over these of the positions, in ascending order, if it can be made. Its probers list the positions as they are here. */
  def only(@unused positions: Array[Int]): Option[JoinIndex] = None

  /** One for probe rows in sorted batches, if the index has such. It may list positions. */
  def newBatchProber(): Option[Prober with BatchProber] = newProber() match {
    case prober: BatchProber => Some(prober)
    case _ => None
  }
}

/**
 * Gives the candidates of one probe key at a time as runs `[from, until)` of positions, each position at most
 * once. Not thread-safe.
 */
abstract class Prober {
  protected var runFrom: Int = 0
  protected var runUntil: Int = 0

  /** Starts on the candidates of a key. No key value is null. */
  def probe(keys: InternalRow): Unit

  /** Moves to the next run that is not empty; false if there is none. */
  def next(): Boolean

  final def from: Int = runFrom
  final def until: Int = runUntil

  /** Whether a run is of places in the list [[positions]], not of positions. Only of a prober that is asked for as one that may. */
  def lists: Boolean = false

  /** Asked for each run. */
  def positions: Array[Int] = Array.emptyIntArray
}

/** An index that knows by itself whether a key of 64 bits has a candidate. Generated code calls the final class. */
trait LongMembership { this: JoinIndex =>
  def contains(key: Long): Boolean
}

/**
 * An index by a first key of 64 bits, which no build row has below `least` or above `greatest`: a probe row whose own first key
 * is outside has no candidate. There are no build rows at all if `least` is above `greatest`.
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
 * An index in which a probe row has one candidate at most, which generated code asks its class for. Keys are numbers of 64 bits. Whether
 * an index is one may depend on the build rows; its probers give the same.
 */
trait LongsLookup { this: JoinIndex =>

  /** The position of the candidate; -1 without one. The array is used again for the next row. */
  def find(keys: Array[Long]): Int
}

/**
 * An index that knows by itself whether a key has a candidate: of a single string or binary by the bytes of the value, of
 * other keys by the bytes of their row. `size` bytes lie at `offset` of the object `base`, as for `Platform`.
 */
trait BytesMembership { this: JoinIndex =>
  def contains(base: AnyRef, offset: Long, size: Int): Boolean
}

/**
 * A prober that is asked in two steps, so that probe rows can be sorted in between: for the group of build rows with equal
 * keys, then for the candidates in a group by the numbers that follow those keys, one or the two of [[JoinIndex.pair]]. It gives the
 * same whatever the order of the rows, and is quickest when they come by group and with the first number descending.
 */
trait BatchProber { this: Prober =>

  /** The group of a key that is a number; negative without one. */
  def group(key: Long): Int

  /** The group of other keys. */
  def group(keys: InternalRow): Int

  /** The group if there are no equal keys. */
  def group(): Int = 0

  /** Starts on the candidates within a group; `second` is not read if there is one number. */
  def probe(group: Int, first: Long, second: Long): Unit
}

/** A prober whose only key is a long, which generated code hands over unboxed. */
trait LongProber { this: Prober =>
  def probe(key: Long): Unit
}

/** A prober whose keys are all numbers of 64 bits, which generated code hands over in an array that it uses again for the next row. */
trait LongsProber { this: Prober =>

  /** False if it is known that there are no candidates. */
  def probe(key: Array[Long]): Boolean
}

/**
 * A prober whose only key is a string or binary, which generated code hands over where it lies, as for
 * [[BytesMembership]].
 */
trait BytesProber { this: Prober =>
  def probe(base: AnyRef, offset: Long, size: Int): Unit
}

/** For probers that find one run a key. */
abstract class SingleRunProber extends Prober {
  private var pending = false

  protected final def run(from: Int, until: Int): Unit = {
    runFrom = from
    runUntil = until
    pending = from < until
  }

  override final def next(): Boolean = {
    val found = pending
    pending = false
    found
  }
}
