package thetajoin.accelerator.nearest

import java.lang.Double.compare

import org.apache.spark.sql.types.DataType

import thetajoin.condition.OrderedLong
import thetajoin.contract.{
  IndexBuilder,
  IndexSpec,
  JoinIndex,
  KeyErrors,
  LongsLookup,
  LongsProber,
  NarrowingProber,
  Prober
}
import thetajoin.kit.keys.{Groups, LongTable}
import thetajoin.kit.{GroupProber, Segments, SegmentsBuilder}

/**
 * A build key row has the keys that must be equal, then a value. A probe key row has those keys, then a value, then
 * the bounds within which values match: the lower and the upper one, each if there is one; then its doubt, if there
 * is any. The rows of a key are sorted by their value, and the candidates come in the order of their distance from
 * the probe value: of equal distances the lower value first.
 *
 * That is the order of rank, unless there is doubt or distances wrap around. Then the driver has the rank of each
 * candidate, and no others are given once they are farther away than that: within the doubt, and where a distance
 * wraps around, all are.
 *
 * @param keys how many columns must be equal
 * @param isLowerStrict whether the value must not equal the lower bound; None if there is none
 * @param isUpperStrict the same of the upper bound
 * @param isFloating whether values are floating-point numbers, whose distance is rounded
 * @param hasDoubt whether a probe row says up to which distance a rank may be lower than the distance
 * @param wraps the greatest distance if the ranks of greater ones are others
 * @param nullsFirst whether the distance from a value that is null comes ahead of all others. The least number stands
 *   for null in either row, and the rank of candidates tells it from a value
 * @param isFirst whether only the first candidate is asked for
 */
final case class ClosestSpec(
    keys: Int,
    isLowerStrict: Option[Boolean],
    isUpperStrict: Option[Boolean],
    isFloating: Boolean,
    hasDoubt: Boolean = false,
    wraps: Option[Long] = None,
    nullsFirst: Boolean = false,
    isFirst: Boolean = false
) extends IndexSpec {
  override def keyErrors: KeyErrors = KeyErrors.Raised
  override def forOne: IndexSpec = copy(isFirst = true)
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new SegmentsBuilder(keyTypes.take(keys))({
      case (groups: Groups.OfBytes, segments) => new Closest(this, groups, segments)
      case (groups, segments) if isFirst => new FirstClosest(this, groups, segments)
      case (groups, segments) => new Closest(this, groups, segments)
    })
}

sealed class Closest(spec: ClosestSpec, groups: Groups, values: Segments) extends JoinIndex {
  private val hasLower = spec.isLowerStrict.isDefined
  private val isLowerStrict = spec.isLowerStrict.contains(true)
  private val hasUpper = spec.isUpperStrict.isDefined
  private val isUpperStrict = spec.isUpperStrict.contains(true)
  private val isFloating = spec.isFloating
  private val mostAway = spec.wraps.getOrElse(Long.MaxValue)
  private[nearest] val isFirst: Boolean = spec.isFirst
  private[nearest] val nullsFirst: Boolean = spec.nullsFirst

  override def bytes: Long = groups.bytes + values.bytes
  override def newProber(): Prober = groups match {
    case _: Groups.OfBytes if isNarrowed => new NarrowedProber(this, groups)
    case _: Groups.OfBytes => new ClosestProber(this, groups)
    case _ if isNarrowed => new NarrowedProber(this, groups) with LongsProber
    case _ => new ClosestProber(this, groups) with LongsProber
  }

  private def isNarrowed = spec.hasDoubt || spec.wraps.isDefined || nullsFirst

  /**
   * Up to which distance rows are needed whatever the rank of others. The probe value stands in `numbers` at `at`,
   * and rows in a segment's stretch.
   */
  private[nearest] def doubt(least: Int, end: Int, numbers: Array[Long], at: Int): Long = {
    def isFar(low: Long, high: Long) = low < high && {
      val away = high - low
      away < 0 || away > mostAway
    }
    val value = numbers(at)
    if (
      least < end && (isFar(values.numbers(least), value) || isFar(value, values.numbers(end - 1)))
    ) Long.MaxValue
    else if (spec.hasDoubt) numbers(at + 1 + spec.isLowerStrict.size + spec.isUpperStrict.size)
    else -1L
  }

  /** How far a row is from a probe value. */
  private[nearest] def away(value: Long, row: Int): Long = {
    val other = values.numbers(row)
    if (isFloating)
      OrderedLong.ofDouble(math.abs(OrderedLong.toDouble(value) - OrderedLong.toDouble(other)))
    else math.abs(value - other)
  }

  /** The end of a segment's rows whose value is null, or the least number. */
  private[nearest] def endOfNulls(segment: Int): Int = values.firstAbove(segment, Long.MinValue)

  /**
   * Where the rows of a segment begin that are within the bounds. The probe value and they stand in `numbers` from
   * `at` on.
   */
  private[nearest] def begin(segment: Int, numbers: Array[Long], at: Int): Int =
    if (hasLower) values.from(segment, numbers(at + 1), isLowerStrict) else values.starts(segment)

  /** Where they end. */
  private[nearest] def end(segment: Int, numbers: Array[Long], at: Int): Int =
    if (!hasUpper) values.end(segment)
    else values.until(segment, numbers(if (hasLower) at + 2 else at + 1), isUpperStrict)

  /**
   * The place of a probe value among the rows: distances grow from there to both ends. Spark's distance of an
   * infinite value from itself is NaN, and NaN comes last: so rows equal to the least value are below it.
   */
  private[nearest] def place(segment: Int, value: Long): Int =
    if (isFloating && value == Closest.LeastDouble) values.firstAbove(segment, value)
    else values.firstAtLeast(segment, value)

  /** Whether the row below a probe value is as near as that above, or nearer. */
  private[nearest] def isBelowNearer(value: Long, below: Int, above: Int): Boolean = {
    val (low, high) = (values.numbers(below), values.numbers(above))
    if (isFloating) {
      val center = OrderedLong.toDouble(value)
      compare(center - OrderedLong.toDouble(low), OrderedLong.toDouble(high) - center) <= 0
    } else java.lang.Long.compareUnsigned(value - low, high - value) <= 0
  }
}

private object Closest {
  val LeastDouble: Long = OrderedLong.ofDouble(Double.NegativeInfinity)
}

/** Asked for one candidate, by keys that are numbers. */
final class FirstClosest(spec: ClosestSpec, groups: Groups, values: Segments)
    extends Closest(spec, groups, values)
    with LongsLookup {
  @transient private lazy val table: LongTable = groups match {
    case Groups.OfNumbers(table) => table
    case _ => null
  }
  private val at = spec.keys

  override def find(keys: Array[Long]): Int = {
    val segment = if (table == null) 0 else table.find(keys(0))
    if (segment < 0) -1
    else {
      val (from, until) = (begin(segment, keys, at), end(segment, keys, at))
      val above = math.max(place(segment, keys(at)), from)
      val hasBelow = above > from && from < until
      if (!hasBelow) if (above < until) above else -1
      else if (above >= until) until - 1
      else if (isBelowNearer(keys(at), above - 1, above)) above - 1
      else above
    }
  }
}

private class ClosestProber(index: Closest, groups: Groups) extends GroupProber(groups) {
  private val isFirst = index.isFirst
  protected var value = 0L
  protected var least = 0
  protected var end = 0
  protected var below = 0
  protected var above = 0

  override protected def none(): Unit = {
    least = 0
    end = 0
    below = -1
    above = 0
  }

  override protected def probe(segment: Int, numbers: Array[Long], at: Int): Unit = {
    value = numbers(at)
    least = index.begin(segment, numbers, at)
    end = index.end(segment, numbers, at)
    above = math.min(math.max(index.place(segment, value), least), math.max(least, end))
    below = above - 1
  }

  override def next(): Boolean = {
    val (hasBelow, hasAbove) = (below >= least, above < end)
    if (hasBelow && (!hasAbove || index.isBelowNearer(value, below, above))) {
      give(below)
      below -= 1
    } else if (hasAbove) {
      give(above)
      above += 1
    }
    if (isFirst) none()
    hasBelow || hasAbove
  }

  protected final def give(row: Int): Unit = {
    runFrom = row
    runUntil = row + 1
  }
}

/**
 * Ends if all rows that follow are farther away than the ranks that the join has already, and than the doubt. Rows
 * whose value is null come first, if distances from null do. If the probe value is null, these are all rows.
 */
private class NarrowedProber(index: Closest, groups: Groups)
    extends ClosestProber(index, groups)
    with NarrowingProber {
  private var doubt, farthest = 0L
  private var ofNull, endOfNulls = 0

  override protected def none(): Unit = {
    super.none()
    endOfNulls = ofNull
  }

  override protected def probe(segment: Int, numbers: Array[Long], at: Int): Unit = {
    super.probe(segment, numbers, at)
    ofNull = least
    if (index.nullsFirst) {
      least = if (value == Long.MinValue) end else index.endOfNulls(segment)
      above = math.max(above, least)
    }
    endOfNulls = least
    doubt = index.doubt(least, end, numbers, at)
    farthest = Long.MaxValue
  }

  override def narrow(rank: Long): Unit =
    farthest =
      if (index.nullsFirst && rank == Long.MinValue) rank else math.max(rank, doubt)

  override def next(): Boolean =
    if (ofNull < endOfNulls && farthest != Long.MinValue) {
      give(ofNull)
      ofNull += 1
      true
    } else (isNear(below) || isNear(above)) && super.next()

  private def isNear(row: Int): Boolean =
    least <= row && row < end && (farthest == Long.MaxValue || index.away(value, row) <= farthest)
}
