package thetajoin.accelerator.nearest

import org.apache.spark.sql.types.DataType

import thetajoin.contract.{
  Batches,
  IndexBuilder,
  IndexSpec,
  JoinIndex,
  KeyErrors,
  LongsLookup,
  LongsProber,
  Prober
}
import thetajoin.kit.keys.{Groups, LongTable}
import thetajoin.kit.{BetweenProber, Segments, SegmentsBuilder}

/**
 * A build key row has the keys that must be equal, then a value. A probe key row has those keys, then a bound from
 * which on values match, then one up to which they do, each if there is such. The rows of a key are sorted by their
 * value, so that the candidates are one run in the order of the values. Rows of equal values stay in the order in
 * which they came.
 *
 * @param keys how many columns must be equal
 * @param isLowerStrict whether the value must not equal the lower bound; None if there is none
 * @param isUpperStrict the same of the upper bound
 * @param isFirst whether only the first candidate is asked for
 */
final case class NearestSpec(
    keys: Int,
    isLowerStrict: Option[Boolean],
    isUpperStrict: Option[Boolean],
    isFirst: Boolean = false
) extends IndexSpec {
  override def batches: Option[Batches] = Batches.by(isLowerStrict.size + isUpperStrict.size)
  override def keyErrors: KeyErrors = KeyErrors.Raised
  override def forOne: IndexSpec = copy(isFirst = true)
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new SegmentsBuilder(keyTypes.take(keys))({
      case (groups: Groups.OfBytes, segments) => new Nearest(this, groups, segments)
      case (groups, segments) if isFirst => new First(this, groups, segments)
      case (groups, segments) => new Nearest(this, groups, segments)
    })
}

sealed class Nearest(spec: NearestSpec, groups: Groups, segments: Segments) extends JoinIndex {
  override def bytes: Long = groups.bytes + segments.bytes
  override def newProber(): Prober = groups match {
    case _: Groups.OfBytes => new NearestProber(spec, groups, segments)
    case _ => new NearestProber(spec, groups, segments) with LongsProber
  }
}

/** Asked for one candidate, by keys that are numbers. */
final class First(spec: NearestSpec, groups: Groups, segments: Segments)
    extends Nearest(spec, groups, segments)
    with LongsLookup {
  @transient private lazy val table: LongTable = groups match {
    case Groups.OfNumbers(table) => table
    case _ => null
  }
  private val keys = spec.keys
  private val hasLower = spec.isLowerStrict.isDefined
  private val isLowerStrict = spec.isLowerStrict.contains(true)
  private val hasUpper = spec.isUpperStrict.isDefined
  private val isUpperStrict = spec.isUpperStrict.contains(true)

  override def find(numbers: Array[Long]): Int = {
    val segment = if (table == null) 0 else table.find(numbers(0))
    if (segment < 0) -1
    else {
      def number(at: Int) = if (at < numbers.length) numbers(at) else 0L
      val (first, second) = (number(keys), number(keys + 1))
      val row =
        if (hasLower) segments.from(segment, first, isLowerStrict) else segments.starts(segment)
      val upper = if (hasLower) second else first
      if (row < segments.end(segment) && (!hasUpper || isBelow(row, upper))) row else -1
    }
  }

  private def isBelow(row: Int, bound: Long): Boolean = {
    val value = segments.numbers(row)
    value < bound || value == bound && !isUpperStrict
  }
}

private class NearestProber(spec: NearestSpec, groups: Groups, segments: Segments)
    extends BetweenProber(groups, segments, spec.isLowerStrict, spec.isUpperStrict) {
  private val isFirst = spec.isFirst

  override protected def found(from: Int, until: Int): Unit =
    run(from, if (isFirst) math.min(from + 1, until) else until)
}
