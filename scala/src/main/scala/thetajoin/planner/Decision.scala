package thetajoin.planner

import org.apache.spark.sql.catalyst.optimizer.BuildSide

import thetajoin.contract.Offer
import thetajoin.driver.{Spread, ThetaJoin}
import thetajoin.reason.Reason

/** The fate of a join: the choice, or why there is none, with every accelerator that lost and why. */
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

  /** Both sides are partitioned by the equality keys. */
  final case class Shuffle(buildSide: BuildSide) extends Placement

  /**
   * One side is cut into blocks of up to so many bytes. Each block meets all rows of the other side, or all rows of
   * its partition by the equality keys.
   */
  final case class Blocks(buildSide: BuildSide, bytes: Long) extends Placement
}

/**
 * @param offer the offer that the join was made of
 * @param sortsProbe whether probe rows are sorted in batches ahead of the look-ups
 * @param estimate the estimate that the choice was made on
 */
final case class Choice(
    join: ThetaJoin,
    placement: Placement,
    offer: Offer,
    spread: Spread,
    sortsProbe: Boolean,
    estimate: Estimate
)

/**
 * Rows by Spark's statistics, or by the size of files where there are none, and the bytes of a build row by the types
 * of its columns.
 */
final case class Estimate(buildRows: BigInt, probeRows: BigInt, buildRowBytes: BigInt)
