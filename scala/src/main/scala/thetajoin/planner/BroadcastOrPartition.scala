package thetajoin.planner

import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.physical.BroadcastPartitioning
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.internal.SQLConf

import thetajoin.Settings
import thetajoin.condition.{FoundByIndex, JoinShape}
import thetajoin.driver.JoinRole
import thetajoin.hints.ThetaHint
import thetajoin.logical.RankedJoin
import thetajoin.reason.{Reason, ReasonCode}
import thetajoin.relation.ThetaBroadcastMode

/**
 * How the rows of a join may meet. Of joins on equality keys, existence joins are accelerated, and joins that compare
 * more than the keys: if all rows of a key are needed, Spark's own joins serve. Spark's own limits of a broadcast
 * apply to them, apart from [[Sizes.fitsByRange]].
 */
private[planner] object BroadcastOrPartition {

  /**
   * In tiers. Each tier is tried only if no earlier one serves. Within a tier the first placement is chosen if all
   * costs are the same.
   *
   * @param ranked set for a top-k join: `join` is the join of all matches
   * @param servesMore whether an accelerator would serve more of the condition than its equality keys with this side
   *   built
   */
  def of(
      join: Join,
      shape: JoinShape,
      ranked: Option[RankedJoin],
      conf: SQLConf,
      servesMore: BuildSide => Boolean
  ): Either[Reason, Seq[Seq[Placement]]] =
    broadcastAlready(join).map(_.map(broadcast)).getOrElse {
      val tiers =
        if (ranked.isDefined) Right(Seq(Seq(ofRanked(join, ranked.flatMap(_.blocksAbove), conf))))
        else if (ExtractEquiJoinKeys.unapply(join).isDefined) byKeys(join, shape, conf, servesMore)
        else withoutKeys(join, conf)
      if (join.isStreaming) tiers.flatMap(BesideStream.of(join, _, conf))
      else if (ranked.isEmpty && join.condition.exists(FoundByIndex.isIn)) // Spark can't run it.
        Right(tiers.getOrElse(Nil) :+ Sizes.both(join).map(Placement.Broadcast(_)))
      else tiers
    }

  private def broadcast(side: BuildSide) = Seq(Seq(Placement.Broadcast(side)))

  /** Whether adaptive execution has run our broadcast of a side: it must be used, whatever statistics now say. */
  def isOurBroadcast(plan: LogicalPlan): Boolean =
    broadcastMode(plan).exists(_.isInstanceOf[ThetaBroadcastMode])

  def broadcastAlready(join: Join): Option[Either[Reason, BuildSide]] =
    if (isOurBroadcast(join.left)) Some(Right(BuildLeft))
    else if (isOurBroadcast(join.right)) Some(Right(BuildRight))
    else if ((broadcastMode(join.left) ++ broadcastMode(join.right)).nonEmpty)
      Some(Left(ReasonCode.AlreadyBroadcast()))
    else None

  private def broadcastMode(plan: LogicalPlan): Option[Any] = plan match {
    case LogicalQueryStage(_, stage: BroadcastQueryStageExec) =>
      stage.broadcast.outputPartitioning match {
        case BroadcastPartitioning(mode) => Some(mode)
        case _ => None
      }
    case _ => None
  }

  // ---- Without equality keys --------------------------------------------------------------------

  private def withoutKeys(join: Join, conf: SQLConf): Either[Reason, Seq[Seq[Placement]]] =
    if (asksForCartesian(join.hint)) Left(ReasonCode.Hinted("SHUFFLE_REPLICATE_NL"))
    else hinted(join).map(side => Right(broadcast(side))).getOrElse(bySize(join, conf))

  private def asksForCartesian(hint: JoinHint): Boolean =
    (hint.leftHint ++ hint.rightHint).flatMap(_.strategy).exists(_ == SHUFFLE_REPLICATE_NL)

  /**
   * Spark itself says of a MERGE's target that it must stay where it is: two matches of one of its rows are found by
   * the task that has it.
   */
  private def hinted(join: Join): Option[BuildSide] = {
    def has(hint: Option[HintInfo], strategy: JoinStrategyHint) =
      hint.flatMap(_.strategy).contains(strategy)
    def sides(strategy: JoinStrategyHint) =
      (has(join.hint.leftHint, strategy), has(join.hint.rightHint, strategy))
    (sides(NO_BROADCAST_AND_REPLICATION), sides(BROADCAST)) match {
      case ((true, _), _) => Some(BuildRight)
      case ((_, true), _) => Some(BuildLeft)
      case (_, (true, true)) => Some(Sizes.smaller(join))
      case (_, (true, false)) => Some(BuildLeft)
      case (_, (false, true)) => Some(BuildRight)
      case _ => None
    }
  }

  private def bySize(join: Join, conf: SQLConf): Either[Reason, Seq[Seq[Placement]]] = {
    val limit = Settings.BroadcastMaxBytes.in(conf)
    val sides = Sizes.both(join)
    val small = sides.filter(Sizes.size(join, _) <= limit)
    // Spark runs a join that is not inner as a broadcast nested loop at any size.
    val isAnySize = ThetaHint.isForced(join) || !join.joinType.isInstanceOf[InnerLike]
    val inBlocks =
      if (sides.forall(Sizes.isTooLarge(join, _, Sizes.limitBesideShuffle(conf), conf)))
        blocks(join, conf)
      else Nil
    val broadcast = if (small.nonEmpty || !isAnySize) small else sides
    val tiers = Seq(inBlocks, broadcast.map(Placement.Broadcast(_))).filter(_.nonEmpty)
    if (tiers.nonEmpty) Right(tiers)
    else
      Left(ReasonCode.BuildTooLarge(
        s"left ${join.left.stats.sizeInBytes} bytes, right ${join.right.stats.sizeInBytes} bytes, " +
          s"limit $limit bytes"
      ))
  }

  /**
   * The sides that may be cut into blocks. A task that has a block has all rows of the other side, so that a
   * preserved side has to be the one that is cut.
   */
  private def blocks(join: Join, conf: SQLConf): Seq[Placement] = {
    val most = TaskShare.buildBytes(conf)
    val sides = join.joinType match {
      case _: InnerLike => Sizes.both(join)
      case LeftOuter | LeftExistence(_) => Seq(BuildLeft)
      case RightOuter => Seq(BuildRight)
      case _ => Nil
    }
    if (most > 0) sides.map(Placement.Blocks(_, most)) else Nil
  }

  // ---- The first of a left row's matches --------------------------------------------------------

  /** The right side is built. */
  private def ofRanked(join: Join, blocksAbove: Option[BigInt], conf: SQLConf): Placement = {
    def isShuffled = ExtractEquiJoinKeys.unapply(join).isDefined &&
      !(Sizes.fits(join, BuildRight, conf) || fitsByRange(join, BuildRight, conf))
    if (join.isStreaming) Placement.Broadcast(BuildRight)
    else if (blocksAbove.exists(!Sizes.isFoundSmall(join.right, _)))
      Placement.Blocks(BuildRight, TaskShare.buildBytes(conf))
    else if (isShuffled) Placement.Shuffle(BuildRight)
    else Placement.Broadcast(BuildRight)
  }

  // ---- By equality keys -------------------------------------------------------------------------

  private def byKeys(
      join: Join,
      shape: JoinShape,
      conf: SQLConf,
      servesMore: BuildSide => Boolean
  ): Either[Reason, Seq[Seq[Placement]]] =
    shuffleHint(join) match {
      case Some(hint) => Left(ReasonCode.Hinted(hint.displayName))
      case None =>
        val isExistence = JoinRole.of(join.joinType, BuildRight).exists(_.isExistence)
        val found =
          if (isExistence) ofExistence(join, conf) else ofPairs(join, shape, conf, servesMore)
        if (ThetaHint.isForced(join)) Right(found.getOrElse(Nil) :+ forced(join)) else found
    }

  private def forced(join: Join): Seq[Placement] =
    hinted(join).fold(Sizes.both(join))(Seq(_)).map(Placement.Broadcast(_))

  private def ofExistence(join: Join, conf: SQLConf): Either[Reason, Seq[Seq[Placement]]] = {
    val sides = broadcastable(join, Seq(BuildRight, BuildLeft))
    val hinted = sides.find(side => hint(join, side).contains(BROADCAST))
    hinted.orElse(sides.find(Sizes.fits(join, _, conf))) match {
      case Some(BuildLeft) => Right(Seq(Seq(Placement.Broadcast(BuildLeft))))
      case _ if Partitions.arePruned(join.left) => Left(Questions.equiKeys(join))
      case Some(BuildRight) => Right(Seq(Seq(Placement.Broadcast(BuildRight))))
      case None =>
        val ofRows = shuffles(join, Seq(BuildRight), conf)
        val bytes = TaskShare.buildBytes(conf)
        if (bytes > 0 && mayBroadcast(join, conf))
          Right(Seq(Placement.Blocks(BuildRight, bytes)) +: ofRows.getOrElse(Nil))
        else ofRows
    }
  }

  private def ofPairs(
      join: Join,
      shape: JoinShape,
      conf: SQLConf,
      servesMore: BuildSide => Boolean
  ): Either[Reason, Seq[Seq[Placement]]] = {
    val sides = Sizes.both(join)
    val isRange = shape.plainComparisons.size >= 2
    def isSmall(side: BuildSide) =
      Sizes.fits(join, side, conf) || isRange && fitsByRange(join, side, conf)
    def small = broadcastable(join, sides).filter(isSmall)
    hinted(join).fold(small)(Seq(_)) match {
      case _ if !sides.exists(servesMore) || join.children.exists(Partitions.arePruned) =>
        Left(Questions.equiKeys(join))
      case Nil => shuffles(join, sides, conf)
      case broadcast => Right(Seq(broadcast.map(Placement.Broadcast(_))))
    }
  }

  private def shuffles(
      join: Join,
      sides: Seq[BuildSide],
      conf: SQLConf
  ): Either[Reason, Seq[Seq[Placement]]] = {
    val found = sides.map(shuffle(join, _, conf))
    found.collect { case Right(placement) => placement } match {
      case Nil =>
        val inBlocks = blocks(join, conf)
        if (inBlocks.nonEmpty) Right(Seq(inBlocks))
        else Left(found.collectFirst { case Left(reason) => reason }.get)
      case placements => Right(Seq(placements))
    }
  }

  /** Both sides by their keys, if each partition of the build side can be held in memory. */
  private def shuffle(join: Join, side: BuildSide, conf: SQLConf): Either[Reason, Placement] = {
    val limit = TaskShare.buildBytes(conf)
    val largest = Partitions.largest(join, side, conf)
    if (largest <= limit || ThetaHint.isForced(join)) Right(Placement.Shuffle(side))
    else Left(ReasonCode.PartitionTooLarge(s"$largest bytes, limit $limit bytes"))
  }

  private def broadcastable(join: Join, sides: Seq[BuildSide]): Seq[BuildSide] =
    sides.filterNot(side => hint(join, side).contains(NO_BROADCAST_HASH))

  private def fitsByRange(join: Join, side: BuildSide, conf: SQLConf): Boolean =
    mayBroadcast(join, conf) && Sizes.fitsByRange(join, side, conf)

  private def hint(join: Join, side: BuildSide): Option[JoinStrategyHint] =
    (if (side == BuildLeft) join.hint.leftHint else join.hint.rightHint).flatMap(_.strategy)

  private def shuffleHint(join: Join): Option[JoinStrategyHint] =
    Seq(BuildLeft, BuildRight).flatMap(hint(join, _)).find {
      case BROADCAST | NO_BROADCAST_HASH => false
      case _ => true
    }

  /**
   * Whether keys may be broadcast if they turn out to be few. Where not, Spark's sorted join keeps its place. Spark may
   * also join bucket by bucket and shuffle nothing.
   */
  private def mayBroadcast(join: Join, conf: SQLConf): Boolean =
    Sizes.measuredLimit(conf) >= 0 && !hint(join, BuildRight).contains(NO_BROADCAST_HASH) &&
      Partitions.buckets(join).isEmpty
}
