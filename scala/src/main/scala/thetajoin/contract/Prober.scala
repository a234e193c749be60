package thetajoin.contract

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.thetabridge.Cancellation

/**
 * Gives the candidates of one probe key at a time as runs `[from, until)` of positions, each position at most once.
 * Not thread-safe.
 *
 * After some thousand candidates the driver asks whether the task has been killed. A loop that may look at many build
 * rows between two candidates has to tell their number to [[cancellation]], which asks as often.
 */
abstract class Prober {

  /** Of the task for which the prober is made. Parts of the prober are given it too. */
  protected final val cancellation: Cancellation = new Cancellation

  protected var runFrom: Int = 0
  protected var runUntil: Int = 0

  /** Starts on the candidates of a key. No key value is null unless the spec [[IndexSpec.takesNulls takes nulls]]. */
  def probe(keys: InternalRow): Unit

  /** Moves to the next run that is not empty; false if there is none. */
  def next(): Boolean

  final def from: Int = runFrom
  final def until: Int = runUntil
}

/** A prober whose runs are of places in a list of positions. */
trait ListProber { this: Prober =>

  /** The list, asked for each run. */
  def positions: Array[Int]
}

/**
 * A prober that is asked in two steps, so that probe rows can be sorted in between: for the group of build rows with
 * its keys, then for the candidates in a group by the one or two numbers that follow the keys (see
 * [[Batches.bounds]]). It gives the same whatever the order of the rows, and is quickest when they come by group
 * and with the first number descending.
 *
 * Without such numbers a group may also stand for one probe row, whose keys the prober keeps. All rows of a batch are
 * asked for their groups first, and then in descending order of group for their candidates.
 */
trait BatchProber { this: Prober =>

  /** The group of a key that is a number; negative without one. Without keys it is asked for too. */
  def group(key: Long): Int

  /** The group of other keys. */
  def group(keys: InternalRow): Int

  /** Starts on the candidates within a group; `second` is not read if there is one number. */
  def probe(group: Int, first: Long, second: Long): Unit
}

/**
 * A prober whose keys are all numbers of 64 bits, which generated code hands over in an array that it uses again for
 * the next row.
 */
trait LongsProber { this: Prober =>

  /** False if it is known that there are no candidates. */
  def probe(key: Array[Long]): Boolean
}

/**
 * A prober whose only key is a string or binary, which generated code hands over where it lies, as for
 * [[BytesLookup]].
 */
trait BytesProber { this: Prober =>
  def probe(base: AnyRef, offset: Long, size: Int): Unit
}

/** For probers that find one run a key. */
trait SingleRunProber extends Prober {
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

/**
 * A prober whose candidates come in no order, for joins that need the matches of lowest rank. It leaves out
 * candidates that the join no longer needs.
 */
trait NarrowingProber { this: Prober =>

  /**
   * The probe row has as many matches as are asked for, and none of them comes after this rank: candidates of higher
   * ranks need not be given. Ranks are numbered by `OrderedLong`, in ascending order.
   */
  def narrow(rank: Long): Unit
}
