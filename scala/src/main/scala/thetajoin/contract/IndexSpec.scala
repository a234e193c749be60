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

  /** How many of the last probe keys are numbers by which the index is ordered, two at most; see [[BatchProber]]. */
  def bounds: Int = 0

  /**
   * How many probe rows its indexes, which are [[BatchProber]]s, are best asked for together, however large they are;
   * 0 if that does not matter.
   */
  def rowsTogether: Int = 0

  /**
   * Whether rows with a null key have candidates too: builder and prober are given them. Otherwise they match
   * nothing.
   */
  def takesNulls: Boolean = false

  /** What becomes of a row whose key can't be evaluated. */
  def keyErrors: KeyErrors = KeyErrors.Held

  /** The same index where the join asks only whether a row has a candidate: it may then keep fewer rows. */
  def forExistence: IndexSpec = this

  /**
   * Whether a probe row has one candidate at most, whatever the build rows. If keys are numbers of 64 bits, indexes are
   * [[LongsLookup]]s then.
   */
  def findsOneAtMost: Boolean = false

  /** The same index where the join asks for a probe row's first candidate alone. */
  def forFirst: IndexSpec = this
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
