package thetajoin.planner

import org.apache.spark.sql.types.LongType

import thetajoin.Yardsticks
import thetajoin.contract.Offer
import thetajoin.driver.ProbeRepartition

/** How probe rows come to a broadcast index: where they are read or moved to other tasks, as they come or sorted. */
private[planner] object RepartitionOrSort {

  /** Whether probe rows are sorted in batches. The index may still turn out to be too small for it. */
  def areSorted(estimate: Estimate, offer: Offer): Boolean = {
    val leastRows = Yardsticks.SortedIndexBytes() / Yardsticks.IndexBytesPerRow()
    def mayBeMany(estimated: BigInt) = estimated * Yardsticks.Compression() >= leastRows
    offer.spec.batches.exists { batches =>
      def areNumbers = offer.probeKeys.takeRight(batches.bounds).forall(_.dataType == LongType)
      def areMany = mayBeMany(estimate.buildRows) && mayBeMany(estimate.probeRows)
      batches.rows > 0 || areNumbers && areMany
    }
  }

  /** Which probe rows are moved to other tasks. */
  def repartition(estimate: Estimate, offer: Offer, hasResidual: Boolean): ProbeRepartition = {
    val cost = offer.cost
    val buildRows = estimate.buildRows.toDouble
    val ofRow = JoinCost.ofProbeRow(cost, buildRows, cost.share * buildRows, hasResidual)
    val fewMeetMany = estimate.probeRows <= Yardsticks.FewProbeRows() &&
      estimate.probeRows * estimate.buildRows >= Yardsticks.ManyPairs()
    if (ofRow < Yardsticks.ToMoveRow()) ProbeRepartition.Never
    else if (offer.served.nonEmpty && fewMeetMany) ProbeRepartition.Always
    else if (cost.perPair > 0) {
      val least = Yardsticks.SurelyMore() * Yardsticks.ToMoveRow() / cost.perPair
      ProbeRepartition.FromBuildRows(least.toLong)
    } else ProbeRepartition.OverIdleCores
  }
}
