package thetajoin.planner

import org.apache.spark.sql.catalyst.expressions.{And, PlanExpression, PythonUDF}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.planning.{
  ExtractEquiJoinKeys,
  ExtractSingleColumnNullAwareAntiJoin
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils.getSizePerRow
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.LongType

import thetajoin.accelerator.Registry
import thetajoin.condition.{ConditionAnalysis, OneSided, PairTested}
import thetajoin.contract.{Accelerator, JoinRequest, KeyErrors, Need, Offer}
import thetajoin.driver.{ByKeys, JoinRole, Spread, ThetaJoin}
import thetajoin.hints.ThetaHint
import thetajoin.kit.EqualKeys
import thetajoin.logical.{ArrivalOrder, FileOfRow, RankedJoin}
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
    JoinCost.ofSides.ofLookUp(choice) >= SurelyMore * ToMoveRow

  /** Nanoseconds to bring a probe row to an idle core. Half of the work moves there, if there are two cores. */
  private[planner] val ToMoveRow = 2000.0

  /** So many times longer it takes to look a row up if there is no doubt that to move it pays. */
  private[planner] val SurelyMore = 20

  private def leftToSpark(join: Join, conf: SQLConf): Option[Reason] = {
    val condition = join.condition
    val resumes = BuildSides.isOurBroadcast(join.left) || BuildSides.isOurBroadcast(join.right)
    if (resumes) None
    else if (ThetaHint.of(join).exists(_.forbids))
      Some(ReasonCode.Hinted(ThetaHint.Never))
    else if (!Settings.Enabled.in(conf))
      Some(ReasonCode.Disabled(s"${Settings.Enabled.key}=false"))
    else if (join.isStreaming) Some(ReasonCode.Streaming())
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

/** The answers of accelerators to a join with one side built. */
private final case class Answers(
    request: JoinRequest,
    role: JoinRole,
    all: Seq[(Accelerator, Either[Reason, Offer])]
) {
  val offers: Seq[(Accelerator, Offer)] = all.collect { case (a, Right(offer)) => (a, offer) }
  def refused: Seq[Loser] = all.collect { case (a, Left(reason)) => Loser(a.id, reason) }
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
    ConditionAnalysis.shape(join.left.output, join.right.output, join.joinType, join.condition)
  private val hints = ThetaHint.of(join)
  private val accelerators = Registry.accelerators(conf)
  private lazy val ofLeft = answers(BuildLeft)
  private lazy val ofRight = answers(BuildRight)

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

  /**
   * Ways in which rows may meet. The placements of a tier are compared by cost, and a tier is tried only if no
   * earlier one serves.
   */
  private def placements: Either[Reason, Seq[Seq[Placement]]] =
    if (ranked.isDefined) EquiBuildSides.ofRanked(join, ranked.flatMap(_.blocksAbove), conf)
    else if (ExtractEquiJoinKeys.unapply(join).isDefined)
      EquiBuildSides.choose(join, shape, conf, servesMore = side => answersOf(side).offers.nonEmpty)
    else BuildSides.choose(join, conf)

  /** Where Spark has a join on equality keys, so few build rows that it does better. */
  private def fewRows(choice: Choice): Option[Reason] = {
    val least = Settings.EquiKeysMinBuildRows.in(conf)
    val isSparks = shape.equiKeys.nonEmpty && !choice.join.role.isExistence && ranking.isEmpty &&
      !hints.exists(_.forces) && BuildSides.broadcastAlready(join).isEmpty
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
      } else if (shape.equiKeys.nonEmpty || answers.offers.nonEmpty) EquiBuildSides.equiKeys(join)
      else ReasonCode.NoAccelerator(refused.mkString("; "))
    Decision(Left(reason), refused)
  }

  private def answersOf(side: BuildSide): Answers = side match {
    case BuildLeft => ofLeft
    case BuildRight => ofRight
  }

  private def answers(side: BuildSide): Answers = {
    val role = JoinRole.of(join.joinType, side).get
    val need = ranking.getOrElse(if (role.oneRowAtMost) Need.Any else Need.All)
    val asked = accelerators.filter(_.isFor(need))
    val enabled = asked.filter(isEnabled)
    val estimate = estimated(side)
    val request = JoinRequest(shape, side, need, new AskEach(shape, side, estimate, enabled))
    Answers(request, role, asked.map(a => a -> answer(a, request, role)))
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
      accelerator.offer(request).filterOrElse(
        offer =>
          ranking.isDefined || shape.equiKeys.forall(key => offer.served.contains(key.source)),
        ReasonCode.EquiKeys("this accelerator does not use them")
      ).filterOrElse(
        offer =>
          shape.equiKeys.isEmpty || hints.exists(_.forces) || role.isExistence ||
            ranking.isDefined ||
            offer.served.size > shape.equiKeys.size,
        ReasonCode.EquiKeys("this accelerator uses nothing else")
      ).map { offer =>
        (request.need, offer.checked(request.paired)) match {
          case (Need.Any, Nil) => offer.copy(spec = offer.spec.forExistence)
          case (Need.Lowest(1, _), Nil) if offer.isRanked => offer.copy(spec = offer.spec.forFirst)
          case _ => offer
        }
      }
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
    val (ofKeys, others) =
      offer.checked(request.paired).partition(c => shape.equiKeys.exists(_.source == c.source))
    val checked = ofKeys ++ others
    val existenceOnly = role.oneRowAtMost && checked.isEmpty
    val estimate = estimated(side)
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
      checked.map(_.source),
      ranking.map(_.k),
      ranking.filterNot(_ => offer.isRanked).map(_.rank),
      byKeys(request, placement, role, offer)
    )
    Choice(
      planned,
      placement,
      offer,
      if (asRead || existenceOnly || shape.equiKeys.nonEmpty) Spread.Never
      else spread(estimate, offer, hasResidual = checked.nonEmpty),
      !asRead && sortsProbe(estimate, offer),
      estimate
    )
  }

  /**
   * A broadcast index may be of the equality keys alone, where pairs come out. Tests of values that an index prepares
   * are its own.
   */
  private def byKeys(
      request: JoinRequest,
      placement: Placement,
      role: JoinRole,
      offer: Offer
  ): Option[ByKeys] = {
    val mayBe = role.pairs && ranking.isEmpty && shape.equiKeys.nonEmpty &&
      placement.isInstanceOf[Placement.Broadcast] &&
      !offer.served.exists(_.exists(_.isInstanceOf[PairTested]))
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

  private def sortsProbe(estimate: Estimate, offer: Offer): Boolean = {
    val bounds = offer.probeKeys.takeRight(offer.spec.bounds)
    val leastRows = Yardsticks.SortedIndexBytes() / IndexBytesPerRow
    def mayBeMany(estimated: BigInt) = estimated * Compression >= leastRows
    offer.spec.rowsTogether > 0 || bounds.nonEmpty && bounds.forall(_.dataType == LongType) &&
    mayBeMany(estimate.buildRows) && mayBeMany(estimate.probeRows)
  }

  private def spread(estimate: Estimate, offer: Offer, hasResidual: Boolean): Spread = {
    val pairs = estimate.probeRows * estimate.buildRows
    val cost = offer.cost
    val buildRows = estimate.buildRows.toDouble
    val ofRow = JoinCost.ofProbeRow(cost, buildRows, cost.share * buildRows, hasResidual)
    if (ofRow < Planner.ToMoveRow) Spread.Never
    else if (offer.served.nonEmpty && estimate.probeRows <= FewProbeRows && pairs >= ManyPairs)
      Spread.Evenly
    else if (cost.perPair > 0) {
      val least = Planner.SurelyMore * Planner.ToMoveRow / cost.perPair
      Spread.FromBuildRows(least.toLong)
    } else Spread.OverIdleCores
  }

  private def estimated(side: BuildSide): Estimate = {
    val built = BuildSides.built(join, side)
    val probed = if (built eq join.left) join.right else join.left
    Estimate(estimatedRows(built), estimatedRows(probed), getSizePerRow(built.output))
  }

  private def estimatedRows(plan: LogicalPlan): BigInt = plan match {
    case Project(_, child) => estimatedRows(child)
    case _ =>
      plan.stats.rowCount.getOrElse(plan.stats.sizeInBytes / getSizePerRow(plan.output))
  }

  /** Of an ordered index, about. */
  private val IndexBytesPerRow = 20L

  /**
   * How many times more rows a file may have than its size says. The size of the index is known before rows are
   * sorted.
   */
  private val Compression = 8

  /** Moving these takes some hundredths of a second, and looking at so many pairs some tenths. */
  private val FewProbeRows: BigInt = BigInt(100000)
  private val ManyPairs: BigInt = BigInt(100000000)
}
