package thetajoin.planner

import thetajoin.contract.Cost

/**
 * What a join is expected to take, in nanoseconds: build rows are indexed by one core, probe rows are looked up by several. Rows are
 * estimates that may be wrong by far, so a side counts as `fewestRows` at least.
 */
private[planner] final class JoinCost(fewestRows: Double) {
  import JoinCost._

  def apply(choice: Choice): Double = {
    // Build rows without a match are found by a second look at the probe side.
    val looks = if (choice.role.padsBuild) 2 else 1
    val isFirst = choice.ranking.isDefined && choice.offer.isRanked
    val isDecided = isFirst || choice.role.oneRowAtMost && choice.residual.isEmpty
    of(choice.offer.cost, choice.estimate, hasResidual = choice.residual.nonEmpty, looks, isDecided)
  }

  /** Where each probe row gives all its candidates. */
  def ofPairs(cost: Cost, estimate: Estimate): Double =
    of(cost, estimate, hasResidual = false, looks = 1, isDecided = false)

  /** @param isDecided whether one candidate is enough for a probe row */
  private def of(
      cost: Cost,
      estimate: Estimate,
      hasResidual: Boolean,
      looks: Int,
      isDecided: Boolean
  ): Double = {
    val build = estimate.buildRows.toDouble.max(fewestRows)
    val probe = estimate.probeRows.toDouble.max(fewestRows)
    val candidates = if (isDecided) 1.0 else cost.share * build
    build * (Moved + cost.perBuildRow) +
      looks * probe * ofProbeRow(cost, candidates, hasResidual) / Cores
  }
}

private[planner] object JoinCost {

  /** A look-up and what it finds. */
  def ofProbeRow(cost: Cost, candidates: Double, hasResidual: Boolean): Double =
    cost.perProbe + candidates * (if (hasResidual) Candidate + Residual else Candidate)

  /** Of small sides it hardly matters what serves them: what leaves few candidates is right for large ones too. */
  val ofAccelerators = new JoinCost(fewestRows = 10000)

  val ofSides = new JoinCost(fewestRows = 1000)

  /** To collect and store a build row and send it to the tasks. */
  private val Moved = 300.0

  /** To give a candidate, and to test a condition on it. */
  private val Candidate = 2.0
  private val Residual = 5.0

  /** A few: more would hardly change which side is built. */
  private val Cores = 4.0
}
