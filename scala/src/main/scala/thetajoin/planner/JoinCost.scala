package thetajoin.planner

import thetajoin.Yardsticks
import thetajoin.contract.Cost

/**
 * The expected time of a join, in nanoseconds: build rows are indexed by one core, probe rows are looked up by
 * several. Rows are estimates that may be wrong by far, so a side counts as `fewestRows` at least.
 *
 * @param takesRuns whether runs of candidates are as good as one candidate, where only their aggregates are asked for.
 *   Accelerators are compared by the candidates themselves
 */
private[planner] final class JoinCost(fewestRows: Double, takesRuns: Boolean) {
  import JoinCost._

  def apply(choice: Choice): Double = {
    // Build rows without a match are found by a second look at the probe side.
    val looks = if (choice.join.role.padsBuild) 2 else 1
    of(choice.offer.cost, choice.estimate, looks * ofLookUp(choice))
  }

  /** The time of a probe row. */
  def ofLookUp(choice: Choice): Double = {
    val hasResidual = choice.join.ofFound.nonEmpty
    val isRanked = choice.join.k.isDefined && choice.offer.isRanked
    val all = candidates(choice.offer.cost, choice.estimate)
    val looked =
      if (isRanked && hasResidual) all * Yardsticks.UntilMatch()
      else if (isRanked || choice.join.role.oneRowAtMost && !hasResidual) 1.0
      else if (takesRuns && !choice.listsPairs) all.min(Yardsticks.FoldedRows())
      else all
    // In any other order the rank of each candidate is evaluated.
    val isTested = hasResidual || choice.join.rank.isDefined
    ofProbeRow(choice.offer.cost, build(choice.estimate), looked, isTested)
  }

  /** Where each probe row gives all its candidates. */
  def ofPairs(cost: Cost, estimate: Estimate): Double =
    of(
      cost,
      estimate,
      ofProbeRow(cost, build(estimate), candidates(cost, estimate), hasResidual = false)
    )

  private def candidates(cost: Cost, estimate: Estimate): Double = cost.share * build(estimate)

  private def build(estimate: Estimate): Double = estimate.buildRows.toDouble.max(fewestRows)

  private def of(cost: Cost, estimate: Estimate, ofLookUp: Double): Double =
    build(estimate) * (ofMoved(estimate) + cost.perBuildRow) +
      estimate.probeRows.toDouble.max(fewestRows) * ofLookUp / Yardsticks.Cores()

  private def ofMoved(estimate: Estimate): Double =
    Yardsticks.MovedRow() + Yardsticks.MovedByte() * estimate.buildRowBytes.toDouble
}

private[planner] object JoinCost {

  /** A look-up among so many build rows, and the time of its candidates. */
  def ofProbeRow(
      cost: Cost,
      buildRows: Double,
      candidates: Double,
      hasResidual: Boolean
  ): Double =
    cost.perProbe + cost.perPair * buildRows +
      candidates * (Yardsticks.Candidate() + (if (hasResidual) Yardsticks.Residual() else 0.0))

  /**
   * If sides are small, it hardly matters which accelerator serves them. An accelerator that leaves few candidates is
   * right for large sides too.
   */
  val ofAccelerators = new JoinCost(fewestRows = 10000, takesRuns = false)

  val ofSides = new JoinCost(fewestRows = 1000, takesRuns = true)
}
