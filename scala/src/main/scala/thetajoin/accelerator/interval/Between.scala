package thetajoin.accelerator.interval

import org.apache.spark.sql.types.DataType

import thetajoin.contract.{IndexBuilder, IndexSpec, JoinIndex, LongsLookup, LongsProber, Prober}
import thetajoin.kit.keys.{Groups, LongTable}
import thetajoin.kit.{BetweenProber, Segments, SegmentsBuilder}

/**
 * One build value between bounds of the probe row. A build key row has the keys that must be equal, then the value; a
 * probe key row those keys, then the lower bound and the upper one, each if there is one. Rows are sorted by their
 * value, so that candidates are one run.
 *
 * @param keys how many columns must be equal
 * @param lower whether the value must not equal the lower bound; None if there is none
 * @param upper the same of the upper bound
 */
final case class BetweenSpec(keys: Int, lower: Option[Boolean], upper: Option[Boolean])
    extends IndexSpec {
  override def bounds: Int = lower.size + upper.size

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new SegmentsBuilder(keyTypes.take(keys))({
      case (Groups.OfNumbers(table), segments) if segments.areSingleRows =>
        new BetweenOfUnique(this, table, segments)
      case (groups, segments) => new Between(this, groups, segments)
    })
}

sealed class Between(spec: BetweenSpec, groups: Groups, segments: Segments) extends JoinIndex {
  override def bytes: Long = groups.bytes + segments.bytes

  override def newProber(): Prober = groups match {
    case _: Groups.OfBytes => new BetweenProber(groups, segments, spec.lower, spec.upper)
    case _ => new BetweenProber(groups, segments, spec.lower, spec.upper) with LongsProber
  }
}

/** No two rows have the same key. */
final class BetweenOfUnique(spec: BetweenSpec, table: LongTable, segments: Segments)
    extends Between(spec, Groups.OfNumbers(table), segments)
    with LongsLookup {
  private val values = segments.numbers
  private val lower = if (spec.lower.isDefined) 1 else 0
  private val upper = if (spec.upper.isDefined) lower + 1 else 0
  private val isLowerStrict = spec.lower.contains(true)
  private val isUpperStrict = spec.upper.contains(true)

  override def find(keys: Array[Long]): Int = {
    val row = table.find(keys(0))
    if (row >= 0 && isBetween(values(row), keys)) row else -1
  }

  private def isBetween(value: Long, keys: Array[Long]): Boolean =
    (lower == 0 || value > keys(lower) || value == keys(lower) && !isLowerStrict) &&
      (upper == 0 || value < keys(upper) || value == keys(upper) && !isUpperStrict)
}
