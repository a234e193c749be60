package thetajoin.planner

import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder}
import org.apache.spark.sql.catalyst.optimizer.{BuildRight, BuildSide}

import thetajoin.contract.{Need, Offer}
import thetajoin.driver.{ByKeys, JoinRole, Spread}
import thetajoin.reason.Reason

/** What became of a join: the choice, or why there is none, with every accelerator that lost and why. */
final case class Decision(outcome: Either[Reason, Choice], losers: Seq[Loser] = Nil) {
  def chosen: Option[Choice] = outcome.toOption
}

final case class Loser(accelerator: String, reason: Reason) {
  override def toString: String = s"$accelerator, ${reason.code.name}: ${reason.what}"
  def advice: String = s"$this. ${reason.remedy}"
}

/** How the rows of both sides come to meet. */
sealed trait Placement {
  def buildSide: BuildSide
}

object Placement {

  /** One side is broadcast, the other stays where it is. */
  final case class Broadcast(buildSide: BuildSide) extends Placement

  /** Both sides are partitioned by the equal keys. */
  final case class Shuffle(buildSide: BuildSide) extends Placement

  /**
   * One side is cut into blocks of up to so many bytes, each of which meets all rows of the other side, or all of its partition by the equal keys.
   */
  final case class Blocks(buildSide: BuildSide, bytes: Long) extends Placement

  /**
   * The right side's keys are shuffled into `partitions`, then broadcast if they take no more than `broadcastLimit` bytes.
   * Otherwise the left side follows them.
   */
  final case class KeyShuffle(partitions: Int, broadcastLimit: Long) extends Placement {
    override def buildSide: BuildSide = BuildRight
  }
}

/**
 * @param probeFilter conjuncts tested once for each probe row
 * @param buildFilter conjuncts tested once for each build row
 * @param residual conjuncts tested on candidates, in plan order
 * @param sortsProbe whether probe rows are sorted in batches ahead of the look-ups
 * @param ranking set if of a probe row's matches only the first are joined
 * @param byKeys set if the index may turn out to be of the equality keys alone, of which these are those of build rows, and how the join is run then
 * @param estimate what the choice was made on
 */
final case class Choice(
    accelerator: String,
    placement: Placement,
    role: JoinRole,
    offer: Offer,
    probeFilter: Seq[Expression],
    buildFilter: Seq[Expression],
    residual: Seq[Expression],
    spread: Spread,
    sortsProbe: Boolean,
    ranking: Option[Need.Lowest],
    byKeys: Option[(Seq[Expression], ByKeys)],
    estimate: Estimate
) {
  def buildSide: BuildSide = placement.buildSide

  /** By what candidates are ordered once they are found, if that is not how the index gives them. */
  def rank: Option[SortOrder] = ranking.filterNot(_ => offer.isRanked).map(_.rank)
}

/** Rows by Spark's statistics, or by the size of files where there are none, and the bytes of a build row by the types of its columns. */
final case class Estimate(buildRows: BigInt, probeRows: BigInt, buildRowBytes: BigInt)
