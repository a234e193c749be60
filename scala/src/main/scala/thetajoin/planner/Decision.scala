package thetajoin.planner

import org.apache.spark.sql.catalyst.optimizer.BuildSide
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils.getSizePerRow
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project}

import thetajoin.contract.Offer
import thetajoin.driver.{ProbeRepartition, ThetaJoin}
import thetajoin.reason.Reason

/** The fate of a join: the choice, or why there is none, with every accelerator that lost and why. */
final case class Decision(outcome: Either[Reason, Choice], losers: Seq[Loser] = Nil) {
  def chosen: Option[Choice] = outcome.toOption
}

final case class Loser(accelerator: String, reason: Reason) {
  override def toString: String = s"$accelerator, ${reason.code.name}: ${reason.what}"
  def advice: String = s"$this. ${reason.remedy}"
}

/**
 * @param offer the offer that the join was made of
 * @param sortsProbe whether probe rows are sorted in batches ahead of the look-ups
 * @param estimate the estimate that the choice was made on
 * @param listsPairs whether each match of a probe row comes out, and no aggregate takes them together
 */
final case class Choice(
    join: ThetaJoin,
    placement: Placement,
    offer: Offer,
    repartition: ProbeRepartition,
    sortsProbe: Boolean,
    estimate: Estimate,
    listsPairs: Boolean
)

/**
 * Rows by Spark's statistics, or by the size of files where there are none, and the bytes of a build row by the types
 * of its columns.
 */
final case class Estimate(buildRows: BigInt, probeRows: BigInt, buildRowBytes: BigInt)

private[thetajoin] object Estimate {

  /** Of a join that has this side built. */
  def of(join: Join, side: BuildSide): Estimate = {
    val built = Sizes.built(join, side)
    val probed = if (built eq join.left) join.right else join.left
    Estimate(rows(built), rows(probed), getSizePerRow(built.output))
  }

  def rows(plan: LogicalPlan): BigInt = plan match {
    case Project(_, child) => rows(child)
    case _ =>
      plan.stats.rowCount.getOrElse(plan.stats.sizeInBytes / getSizePerRow(plan.output))
  }
}
