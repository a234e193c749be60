package thetajoin.planner

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.BuildSide
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.internal.SQLConf

import thetajoin.Settings
import thetajoin.accelerator.Registry
import thetajoin.condition.{Conjunct, FoundByIndex, JoinShape}
import thetajoin.contract.{Accelerator, Ask, JoinRequest, Need, Offer}
import thetajoin.driver.JoinRole
import thetajoin.hints.ThetaHint
import thetajoin.reason.{Reason, ReasonCode}

/** The answers of accelerators to a join with one side built. */
private[planner] final case class Answers(
    request: JoinRequest,
    role: JoinRole,
    all: Seq[(Accelerator, Either[Reason, Offer])]
) {
  val offers: Seq[(Accelerator, Offer)] = all.collect { case (a, Right(offer)) => (a, offer) }
  def refused: Seq[Loser] = all.collect {
    case (a, Left(reason)) if reason.code != ReasonCode.OtherNeed => Loser(a.id, reason)
  }
}

/**
 * Asks accelerators about a join.
 *
 * @param ranking set for a top-k join: `join` is the join of all matches
 * @param ignoresSwitches whether accelerators that are switched off are asked too
 */
private[planner] final class Questions(
    join: Join,
    shape: JoinShape,
    ranking: Option[Need.Lowest],
    hints: Seq[ThetaHint],
    conf: SQLConf,
    ignoresSwitches: Boolean
) {
  private val accelerators = Registry.accelerators(conf)

  /** The answers if this side were built. */
  def answers(side: BuildSide): Answers = {
    val role = JoinRole.of(join.joinType, side).get
    val need = ranking.getOrElse(if (role.oneRowAtMost) Need.Any else Need.All)
    val ask = new AskEach(shape, side, Estimate.of(join, side), accelerators.filter(isEnabled))
    val request =
      JoinRequest(shape, side, need, ask, mayRaise = role.buildExistence.isEmpty)
    Answers(request, role, accelerators.map(a => a -> answer(a, request, role)))
  }

  private def isEnabled(accelerator: Accelerator): Boolean =
    ignoresSwitches || Settings.acceleratorEnabled(accelerator.id).in(conf)

  private def answer(
      accelerator: Accelerator,
      request: JoinRequest,
      role: JoinRole
  ): Either[Reason, Offer] = {
    val switch = Settings.acceleratorEnabled(accelerator.id)
    if (!isEnabled(accelerator))
      Left(ReasonCode.AcceleratorDisabled(s"${switch.key}=false"))
    else if (hints.exists(_.accelerator.exists(_ != accelerator.id)))
      Left(ReasonCode.Hinted(hints.map(_.toString).distinct.mkString(" ")))
    else
      Registry.offer(accelerator, request).filterOrElse(
        offer =>
          ranking.isDefined || shape.equiKeys.forall(key => offer.served.contains(key.source)),
        ReasonCode.EquiKeys("this accelerator does not use them")
      ).filterOrElse(
        offer =>
          shape.equiKeys.isEmpty || ThetaHint.isForced(join) || role.isExistence ||
            ranking.isDefined ||
            offer.served.size > shape.equiKeys.size,
        ReasonCode.EquiKeys("this accelerator uses nothing else")
      ).filterOrElse(
        offer => evaluated(request, offer).forall(e => !FoundByIndex.isIn(e)),
        ReasonCode.PythonUdf("this accelerator does not answer it")
      ).map { offer =>
        // A probe row whose key failed is compared with all build rows.
        val isDecided = offer.checked(request.paired).isEmpty && !offer.holdsFailed
        val needsOne = request.need match {
          case Need.Any => true
          case Need.Lowest(1, _) => offer.isRanked
          case _ => false
        }
        if (isDecided && needsOne) offer.copy(spec = offer.spec.forOne) else offer
      }
  }

  /** The expressions that the driver code evaluates on each candidate. */
  private def evaluated(request: JoinRequest, offer: Offer): Seq[Expression] =
    offer.checked(request.paired).map(_.source) ++
      ranking.filterNot(_ => offer.isRanked).map(_.rank)
}

private[planner] object Questions {

  /** The reason if no index serves more of a join than its equality keys. */
  def equiKeys(join: Join): Reason = {
    val keys = join match {
      case ExtractEquiJoinKeys(_, leftKeys, rightKeys, _, _, _, _, _) =>
        leftKeys.zip(rightKeys).map { case (l, r) => s"${l.sql} = ${r.sql}" }
      case _ => Nil
    }
    ReasonCode.EquiKeys(keys.mkString(", "))
  }
}

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
    val offers = accelerators.flatMap(Registry.offer(_, request).toOption).filter(_.served.nonEmpty)
    offers.minByOption(offer => JoinCost.ofAccelerators.ofPairs(offer.cost, estimate))
  }
}
