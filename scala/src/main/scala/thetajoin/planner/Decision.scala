package thetajoin.planner

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.BuildSide

import thetajoin.accelerator.Offer
import thetajoin.driver.{JoinRole, Spread}
import thetajoin.reason.Reason

/** What became of a join: the choice, or why there is none, with every accelerator that lost and why. */
final case class Decision(outcome: Either[Reason, Choice], losers: Seq[Loser] = Nil) {
  def chosen: Option[Choice] = outcome.toOption
}

final case class Loser(accelerator: String, reason: Reason) {
  override def toString: String = s"$accelerator, ${reason.code.name}: ${reason.what}"
}

/**
 * @param probeFilter conjuncts tested once for each probe row
 * @param buildFilter conjuncts tested once for each build row
 * @param residual conjuncts tested on candidates, in plan order
 */
final case class Choice(
    accelerator: String,
    buildSide: BuildSide,
    role: JoinRole,
    offer: Offer,
    probeFilter: Seq[Expression],
    buildFilter: Seq[Expression],
    residual: Seq[Expression],
    spread: Spread
)
