package thetajoin.planner

import org.apache.spark.sql.catalyst.expressions.{And, PlanExpression, PythonUDF}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.planning.ExtractSingleColumnNullAwareAntiJoin
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf

import thetajoin.condition.{ConditionAnalysis, Conjunct, DecidedByIndex, OneSided}
import thetajoin.contract.{Accelerator, JoinRequest, KeyErrors, Need, Offer}
import thetajoin.driver.{ByKeys, JoinRole, ProbeRepartition, ThetaJoin}
import thetajoin.hints.ThetaHint
import thetajoin.kit.EqualKeys
import thetajoin.logical.{AggregatedSide, ArrivalOrder, FileOfRow, RankedJoin}
import thetajoin.reason.{Reason, ReasonCode}
import thetajoin.{Settings, Yardsticks}

/**
 * Chooses build side and accelerator for a join, or says why it is left to Spark. It is a pure function of the
 * logical plan, its statistics, the settings and the memory and cores of an executor. So a report can ask about a
 * join that was planned elsewhere.
 */
object Planner {

  def choose(join: Join, conf: SQLConf): Decision =
    leftToSpark(join, conf) match {
      case Some(reason) => Decision(Left(reason))
      case None => new Planning(join, conf, FileOfRow.isAskedAbove(join)).decision
    }

  /** The join with its right side broadcast, if an index of these rows has a sieve. */
  def sieved(join: Join, conf: SQLConf): Option[ThetaJoin] =
    if (leftToSpark(join, conf).isDefined) None
    else new Planning(join, conf, FileOfRow.isAskedAbove(join)).sieved

  /**
   * Whatever accelerator gives the matches of a row, the first of them can be found.
   *
   * @param ignoresSwitches whether accelerators that are switched off may be chosen too
   */
  def choose(join: RankedJoin, conf: SQLConf, ignoresSwitches: Boolean = false): Decision = {
    val asRead = FileOfRow.isAskedAbove(join) || ArrivalOrder.mattersTo(join)
    new Planning(join.ofAll, conf, asRead, Some(join), ignoresSwitches).decision
  }

  /** Whether a look-up surely takes far longer than to move a row. */
  private[thetajoin] def takesLong(choice: Choice): Boolean =
    JoinCost.ofSides.ofLookUp(choice) >= Yardsticks.SurelyMore() * Yardsticks.ToMoveRow()

  private def leftToSpark(join: Join, conf: SQLConf): Option[Reason] = {
    val condition = join.condition
    val resumes = Seq(join.left, join.right).exists(BroadcastOrPartition.isOurBroadcast)
    if (resumes) None
    else if (ThetaHint.of(join).exists(_.forbids))
      Some(ReasonCode.Hinted(ThetaHint.Never))
    else if (!Settings.Enabled.in(conf))
      Some(ReasonCode.Disabled(s"${Settings.Enabled.key}=false"))
    else if (join.children.forall(_.isStreaming)) Some(ReasonCode.Streaming("both sides stream"))
    else if (JoinRole.of(join.joinType, BuildRight).isEmpty)
      Some(ReasonCode.UnsupportedJoinType(join.joinType.toString))
    else if (condition.exists(_.exists(_.isInstanceOf[PythonUDF]))) Some(ReasonCode.PythonUdf())
    else if (condition.exists(!_.deterministic)) Some(ReasonCode.Nondeterministic())
    else if (condition.exists(_.exists(_.isInstanceOf[PlanExpression[_]])))
      Some(ReasonCode.SubqueryInCondition())
    else if (join.missingInput.nonEmpty)
      Some(ReasonCode.MissingColumn(join.missingInput.mkString(", ")))
    else if (ArrivalOrder.mattersTo(join)) Some(ReasonCode.ArrivalOrder())
    else join match {
      case ExtractSingleColumnNullAwareAntiJoin(_, _) => Some(ReasonCode.NullAwareAnti())
      case _ => None
    }
  }
}

/**
 * The choices for one join. Accelerators are asked once for each side that may be built.
 *
 * @param asRead whether rows must come out as they are read: see [[FileOfRow]] and [[ArrivalOrder]]
 * @param ranked set for a top-k join: `join` is the join of all matches
 */
private final class Planning(
    join: Join,
    conf: SQLConf,
    asRead: Boolean,
    ranked: Option[RankedJoin] = None,
    ignoresSwitches: Boolean = false
) {
  private val ranking = ranked.map(r => Need.Lowest(r.k, r.rank))
  private val shape =
    ConditionAnalysis.shape(join.left.output, join.right.output, join.condition)
  private val hints = ThetaHint.of(join)
  private val questions = new Questions(join, shape, ranking, hints, conf, ignoresSwitches)
  private lazy val ofLeft = questions.answers(BuildLeft)
  private lazy val ofRight = questions.answers(BuildRight)

  def decision: Decision = placements match {
    case Left(reason) => Decision(Left(reason))
    case Right(tiers) =>
      val fit = tiers.map(_.filter(isFit)).filter(_.nonEmpty)
      val chosen = fit.to(LazyList).flatMap(cheapest).headOption
      (chosen, fit) match {
        case (Some(choice), _) =>
          val refused = answersOf(choice.join.buildSide).refused
          Decision(fewRows(choice).toLeft(choice), refused)
        case (None, Nil) => Decision(Left(ReasonCode.FileOfRow()))
        case (None, _) => none(answersOf(fit.last.head.buildSide))
      }
  }

  def sieved: Option[ThetaJoin] =
    bestServed(Placement.Broadcast(BuildRight)).filter(hasSieve).map(_.join)

  /**
   * Ways in which rows may meet. The placements of a tier are compared by cost, and a tier is tried only if no
   * earlier one serves.
   */
  private def placements: Either[Reason, Seq[Seq[Placement]]] =
    BroadcastOrPartition.of(join, shape, ranked, conf, servesMore = answersOf(_).offers.nonEmpty)

  /** Where Spark has a join on equality keys, so few build rows that it does better. */
  private def fewRows(choice: Choice): Option[Reason] = {
    val least = Settings.EquiKeysMinBuildRows.in(conf)
    val isSparks = shape.equiKeys.nonEmpty && !choice.join.role.isExistence && ranking.isEmpty &&
      !ThetaHint.isForced(join) && BroadcastOrPartition.broadcastAlready(join).isEmpty
    if (isSparks && choice.estimate.buildRows < least)
      Some(ReasonCode.FewBuildRows(s"${choice.estimate.buildRows} rows by estimate, least $least"))
    else None
  }

  /** If rows must come out as they are read, the join may only ask left rows for a match, and move them nowhere. */
  private def isFit(placement: Placement): Boolean =
    !asRead || ranking.isDefined || placement == Placement.Broadcast(BuildRight) &&
      JoinRole.of(join.joinType, BuildRight).exists(_.probeExistence.isDefined)

  private def cheapest(tier: Seq[Placement]): Option[Choice] =
    tier.flatMap(bestServed).minByOption(choice => JoinCost.ofSides(choice))

  private def bestServed(placement: Placement): Option[Choice] = {
    val answers = answersOf(placement.buildSide)
    val choices = answers.offers.map { case (accelerator, offer) =>
      choice(answers.request, placement, answers.role, accelerator, offer)
    }
    choices.filter(suits).minByOption(choice => JoinCost.ofAccelerators(choice))
  }

  private def none(answers: Answers): Decision = {
    val refused = answers.refused
    val reason =
      if (hints.exists(_.accelerator.nonEmpty)) {
        val named =
          refused.filter(loser => hints.exists(_.accelerator.contains(loser.accelerator)))
        ReasonCode.HintedAccelerator(named.mkString("; "))
      } else if (shape.equiKeys.nonEmpty || answers.offers.nonEmpty) Questions.equiKeys(join)
      else ReasonCode.NoAccelerator(refused.mkString("; "))
    Decision(Left(reason), refused)
  }

  private def answersOf(side: BuildSide): Answers = side match {
    case BuildLeft => ofLeft
    case BuildRight => ofRight
  }

  private def suits(choice: Choice): Boolean = choice.placement match {
    case _: Placement.Broadcast => true
    case _: Placement.Shuffle => ranking.isDefined || choice.offer.served.size > shape.equiKeys.size
    case _: Placement.Blocks if ranking.isDefined || shape.equiKeys.isEmpty => true
    // Each row of the other side must meet all build rows of its keys in one task.
    case _: Placement.Blocks if choice.join.role.probeExistence.isDefined => hasSieve(choice)
    case _: Placement.Blocks => choice.offer.served.size > shape.equiKeys.size
  }

  /** Whether build rows that the index's sieve leaves out are of no use. */
  private def hasSieve(choice: Choice): Boolean =
    choice.join.mode(shape.left ++ shape.right, None).hasSieve && choice.join.residual.isEmpty

  private def choice(
      request: JoinRequest,
      placement: Placement,
      role: JoinRole,
      accelerator: Accelerator,
      offer: Offer
  ): Choice = {
    val side = placement.buildSide
    val (ofBuild, ofProbe) =
      shape.conjuncts.collect { case o: OneSided => o }.partition(_.side == side)
    // Spark tests equality keys before all other conjuncts, and an error of another conjunct counts only if they are
    // equal.
    def ordered(conjuncts: Seq[Conjunct]) = {
      val (ofKeys, others) = conjuncts.partition(c => shape.equiKeys.exists(_.source == c.source))
      (ofKeys ++ others).map(_.source)
    }
    val checked = ordered(offer.checked(request.paired))
    val ofFailed = if (offer.holdsFailed) ordered(request.paired) else checked
    val existenceOnly = role.oneRowAtMost && ofFailed.isEmpty
    val estimate = Estimate.of(join, side)
    val planned = ThetaJoin(
      accelerator.id,
      offer.spec,
      role,
      side,
      offer.buildKeys,
      offer.probeKeys,
      ofBuild.map(_.source).reduceOption(And(_, _)),
      ofProbe.map(_.source).reduceOption(And(_, _)),
      offer.served,
      ofFailed,
      checked,
      ranking.map(_.k),
      ranking.filterNot(_ => offer.isRanked).map(_.rank),
      byKeys(request, placement, role, offer)
    )
    Choice(
      planned,
      placement,
      offer,
      if (asRead || existenceOnly || shape.equiKeys.nonEmpty) ProbeRepartition.Never
      else RepartitionOrSort.repartition(estimate, offer, hasResidual = checked.nonEmpty),
      !asRead && RepartitionOrSort.areSorted(estimate, offer),
      estimate,
      listsPairs = checked.nonEmpty || !isAggregated(side)
    )
  }

  private def isAggregated(side: BuildSide): Boolean =
    Settings.AggregateEnabled.in(conf) && AggregatedSide.isAggregated(join, side)

  /**
   * A broadcast index may be of the equality keys alone, where pairs come out, unless an index decides on a condition.
   */
  private def byKeys(
      request: JoinRequest,
      placement: Placement,
      role: JoinRole,
      offer: Offer
  ): Option[ByKeys] = {
    val mayBe = role.pairs && ranking.isEmpty && shape.equiKeys.nonEmpty &&
      placement.isInstanceOf[Placement.Broadcast] &&
      !offer.served.exists(_.exists(_.isInstanceOf[DecidedByIndex]))
    if (!mayBe) None
    else EqualKeys.of(shape, placement.buildSide).toOption.filter(keys =>
      !keys.canFail || offer.spec.keyErrors == KeyErrors.Raised
    ).map { keys =>
      val exact = offer.exact.filter(keys.sources.contains)
      val (ofKeys, others) = request.paired.map(_.source).filterNot(exact.contains)
        .partition(keys.sources.contains)
      ByKeys(keys.build, keys.probe, ofKeys ++ others)
    }
  }
}
