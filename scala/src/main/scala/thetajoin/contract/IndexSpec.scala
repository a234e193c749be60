package thetajoin.contract

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.thetabridge.Cancellation
import org.apache.spark.sql.types.DataType

/** Makes index builders. Implemented by case classes over constants, since equal specs share one broadcast. */
trait IndexSpec extends Serializable {
  def newBuilder(keyTypes: Seq[DataType]): IndexBuilder

  /**
   * If the index keeps fewer rows than it is given, and a task can tell some of the others before they move: makes
   * the memory of a task, from the types of the keys.
   */
  def sieve: Option[Seq[DataType] => SeenKeys] = None

  /** For a task that has seen no row yet, if there is a [[sieve]]. */
  final def newSeenKeys(keyTypes: Seq[DataType]): SeenKeys = sieve.get(keyTypes)

  /** How probe rows are asked for in batches, if its indexes have [[BatchProber]]s. */
  def batches: Option[Batches] = None

  /**
   * Whether rows with a null key have candidates too: builder and prober are given them. Otherwise they match
   * nothing.
   */
  def takesNulls: Boolean = false

  /** What becomes of a row whose key can't be evaluated. */
  def keyErrors: KeyErrors = KeyErrors.Held

  /**
   * The same index where one candidate of a probe row is enough: the first, if candidates are ranked, or else any. It
   * may then keep fewer rows.
   */
  def forOne: IndexSpec = this
}

/**
 * Probe rows that are looked up in sorted batches: see [[BatchProber]].
 *
 * @param bounds how many of the last probe keys are numbers by which the index is ordered, two at most
 * @param rows how many probe rows are best asked for together, however large the index is. If it is 0, batches are as
 *   large as memory allows, and serve large indexes only
 */
final case class Batches(bounds: Int, rows: Int = 0)

object Batches {

  /** By so many numbers, if there are any. */
  def by(bounds: Int): Option[Batches] = if (bounds > 0) Some(Batches(bounds)) else None
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

  /** Whether the index may need the row of this key as well as the rows seen before. */
  def isNew(key: UnsafeRow): Boolean

  /** For a single key of 64 bits. */
  def isNew(key: Long): Boolean
}

/**
 * Takes the keys of build rows in arrival order. Rows with a key that failed never come here, and rows with a null
 * key only if the spec [[IndexSpec.takesNulls takes nulls]].
 *
 * Whoever adds rows asks whether the query has been cancelled. A loop of [[finish]] that takes seconds for many rows
 * has to tell their number to [[cancellation]].
 */
abstract class IndexBuilder {

  /** Of the task or thread that builds. */
  protected final val cancellation: Cancellation = new Cancellation

  /** `keys` is reused by the caller: copy the values that are kept. */
  def add(keys: InternalRow): Unit

  /**
   * About the most bytes that it would hold at once if no more rows came: the rows it has collected, and the
   * structures that [[finish]] makes of them while they are still there. Spark releases so much in time. It is asked
   * for once in some thousand rows.
   */
  def bytes: Long

  def finish(): OrderedIndex
}

/**
 * @param order the arrival numbers of rows, in the order in which the index wants them stored. A row that is
 *   left out is never a candidate
 */
final case class OrderedIndex(index: JoinIndex, order: Array[Int])
