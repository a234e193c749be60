package thetajoin.planner

import org.apache.spark.sql.catalyst.optimizer.BuildSide

import thetajoin.condition.{Conjunct, JoinShape}
import thetajoin.contract.{Accelerator, Ask, JoinRequest, Need, Offer}

/** Asks each of some accelerators about parts of a join's condition. */
private[planner] final class AskEach(
    shape: JoinShape,
    buildSide: BuildSide,
    estimate: Estimate,
    accelerators: Seq[Accelerator]
) extends Ask {
  override def apply(part: Seq[Conjunct]): Option[Offer] = {
    val request =
      JoinRequest(shape.copy(conjuncts = part), buildSide, Need.All, this, mayRaise = false)
    val offers = accelerators.flatMap(_.offer(request).toOption).filter(_.served.nonEmpty)
    offers.minByOption(offer => JoinCost.ofAccelerators.ofPairs(offer.cost, estimate))
  }
}
