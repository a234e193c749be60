package thetajoin.accelerator.existence

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

import thetajoin.contract.{Batches, IndexBuilder, IndexSpec, KeyErrors, OrderedIndex, SeenKeys}
import thetajoin.kit.IntsBuilder
import thetajoin.kit.keys.{Grouping, KeyedNumbers}

/**
 * Equality keys, or none, and comparisons, if only existence is asked: the rows of a key are kept that answer the
 * comparisons for all of them. A key row has the keys, then a value for each comparison.
 *
 * {{{
 *   a.k = b.k AND b.w >= a.v                    the highest w of each k
 *   a.k = b.k AND b.w <> a.v                    the lowest and the highest
 *   a.k = b.k AND b.w >= a.v AND b.z >= a.u     stairs of w and z: see StaircaseTest
 * }}}
 */
private[existence] sealed trait TestedSpec extends IndexSpec {

  /** How many comparisons there are. */
  def comparisons: Int

  /** Whether a row with this value matches no probe row, whatever its other values. */
  def isHopeless(comparison: Int, value: Long): Boolean

  /** The value as it is kept. */
  def adapted(comparison: Int, value: Long): Long

  def keptRows(groups: Grouping, values: Seq[Array[Long]]): KeptRows

  override def batches: Option[Batches] = if (comparisons == 2) Batches.by(2) else None

  override def keyErrors: KeyErrors = KeyErrors.Raised

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new TestedBuilder(this, keyTypes.dropRight(comparisons))
}

/**
 * One or two comparisons, each `build value > probe value` if it is strict, else `build value >= probe value`.
 *
 * @param isSieved whether a task can tell many of the rows that are not kept; of two comparisons only without keys
 */
final case class AtLeastSpec(strict: Seq[Boolean], isSieved: Boolean) extends TestedSpec {
  override def comparisons: Int = strict.size

  override def sieve: Option[Seq[DataType] => SeenKeys] =
    if (!isSieved) None
    else if (comparisons == 2) Some(_ => new Staircase())
    else Some(ExtremesMemory.ofRows(lowest = false, highest = true) _)

  override def isHopeless(comparison: Int, value: Long): Boolean =
    strict(comparison) && value == Long.MinValue

  /** A value is greater than another if it is at least its successor. */
  override def adapted(comparison: Int, value: Long): Long =
    if (strict(comparison)) value - 1 else value

  override def keptRows(groups: Grouping, values: Seq[Array[Long]]): KeptRows =
    if (comparisons == 1) KeptRows.highest(groups, values.head)
    else KeptRows.stairs(groups, values.head, values.last)
}

/** `build value <> probe value`. */
case object UnequalSpec extends TestedSpec {
  override def comparisons: Int = 1
  override def isHopeless(comparison: Int, value: Long): Boolean = false
  override def adapted(comparison: Int, value: Long): Long = value
  override def keptRows(groups: Grouping, values: Seq[Array[Long]]): KeptRows =
    KeptRows.extremes(groups, values.head)
  override def sieve: Option[Seq[DataType] => SeenKeys] =
    Some(ExtremesMemory.ofRows(lowest = true, highest = true) _)
}

private final class TestedBuilder(spec: TestedSpec, types: Seq[DataType]) extends IndexBuilder {
  private val numbers = new KeyedNumbers(types, spec.comparisons)
  private val keys = types.size
  private val arrivals = new IntsBuilder
  private var rows = 0

  override def add(row: InternalRow): Unit = {
    if (!isHopeless(row)) {
      numbers.add(row)
      arrivals.add(rows)
    }
    rows += 1
  }

  private def isHopeless(row: InternalRow): Boolean = {
    var i = 0
    while (i < spec.comparisons && !spec.isHopeless(i, row.getLong(keys + i))) i += 1
    i < spec.comparisons
  }

  /** Values are held once more as they are adapted. */
  override def bytes: Long =
    numbers.bytes + 2 * arrivals.bytes + 8L * spec.comparisons * arrivals.length

  override def finish(): OrderedIndex = {
    val arrival = arrivals.result()
    val values = Seq.tabulate(spec.comparisons) { i =>
      val ofRows = numbers.column(i).array
      Array.tabulate(arrival.length)(row => spec.adapted(i, ofRows(row)))
    }
    val groups = numbers.grouped()
    val kept = spec.keptRows(groups, values)
    val index = TestedIndex(numbers.groups, kept.test)
    OrderedIndex(index, kept.rows.map(arrival(_)))
  }
}
