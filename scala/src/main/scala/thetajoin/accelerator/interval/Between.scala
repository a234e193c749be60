package thetajoin.accelerator.interval

import org.apache.spark.sql.types.DataType

import thetajoin.contract.{Batches, IndexBuilder, IndexSpec, JoinIndex, LongsProber, Prober}
import thetajoin.kit.keys.Groups
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
  override def batches: Option[Batches] = Batches.by(lower.size + upper.size)

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new SegmentsBuilder(keyTypes.take(keys))(new Between(this, _, _))
}

final class Between(spec: BetweenSpec, groups: Groups, segments: Segments) extends JoinIndex {
  override def bytes: Long = groups.bytes + segments.bytes

  override def newProber(): Prober = groups match {
    case _: Groups.OfBytes => new BetweenProber(groups, segments, spec.lower, spec.upper)
    case _ => new BetweenProber(groups, segments, spec.lower, spec.upper) with LongsProber
  }
}
