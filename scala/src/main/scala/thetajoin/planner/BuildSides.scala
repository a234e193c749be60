package thetajoin.planner

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.physical.BroadcastPartitioning
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.execution.thetabridge.Executors
import org.apache.spark.sql.internal.SQLConf

import thetajoin.Settings
import thetajoin.hints.ThetaHint
import thetajoin.reason.{Reason, ReasonCode}
import thetajoin.relation.ThetaBroadcastMode

/** Which side of a join without equality keys is broadcast, or cut into blocks. */
private[thetajoin] object BuildSides {

  /**
   * In tiers. Each tier is tried only if no earlier one serves. Within a tier the first placement is chosen if all
   * costs are the same.
   */
  def choose(join: Join, conf: SQLConf): Either[Reason, Seq[Seq[Placement]]] = {
    def one(side: BuildSide) = Seq(Seq(Placement.Broadcast(side)))
    broadcastAlready(join).map(_.map(one)).getOrElse {
      if (asksForCartesian(join.hint)) Left(ReasonCode.Hinted("SHUFFLE_REPLICATE_NL"))
      else hinted(join).map(side => Right(one(side))).getOrElse(bySize(join, conf))
    }
  }

  def built(join: Join, side: BuildSide): LogicalPlan = side match {
    case BuildLeft => join.left
    case BuildRight => join.right
  }

  /** Whether adaptive execution has run our broadcast of a side: it must be used, whatever statistics now say. */
  def isOurBroadcast(plan: LogicalPlan): Boolean =
    broadcastMode(plan).exists(_.isInstanceOf[ThetaBroadcastMode])

  private[planner] def broadcastAlready(join: Join): Option[Either[Reason, BuildSide]] =
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

  private def asksForCartesian(hint: JoinHint): Boolean =
    (hint.leftHint ++ hint.rightHint).flatMap(_.strategy).exists(_ == SHUFFLE_REPLICATE_NL)

  /**
   * Spark itself says of a MERGE's target that it must stay where it is: two matches of one of its rows are found by
   * the task that has it.
   */
  private[planner] def hinted(join: Join): Option[BuildSide] = {
    def has(hint: Option[HintInfo], strategy: JoinStrategyHint) =
      hint.flatMap(_.strategy).contains(strategy)
    def sides(strategy: JoinStrategyHint) =
      (has(join.hint.leftHint, strategy), has(join.hint.rightHint, strategy))
    (sides(NO_BROADCAST_AND_REPLICATION), sides(BROADCAST)) match {
      case ((true, _), _) => Some(BuildRight)
      case ((_, true), _) => Some(BuildLeft)
      case (_, (true, true)) => Some(smaller(join))
      case (_, (true, false)) => Some(BuildLeft)
      case (_, (false, true)) => Some(BuildRight)
      case _ => None
    }
  }

  private def bySize(join: Join, conf: SQLConf): Either[Reason, Seq[Seq[Placement]]] = {
    val limit = Settings.BroadcastMaxBytes.in(conf)
    val sides = both(join)
    val small = sides.filter(size(join, _) <= limit)
    // Spark runs a join that is not inner as a broadcast nested loop at any size.
    val isAnySize = ThetaHint.isForced(join) || !join.joinType.isInstanceOf[InnerLike]
    val inBlocks = if (sides.forall(isTooLarge(join, _, limitBesideShuffle(conf), conf)))
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
  private[planner] def blocks(join: Join, conf: SQLConf): Seq[Placement] = {
    val most = TaskShare.buildBytes(conf)
    val sides = join.joinType match {
      case _: InnerLike => both(join)
      case LeftOuter | LeftExistence(_) => Seq(BuildLeft)
      case RightOuter => Seq(BuildRight)
      case _ => Nil
    }
    if (most > 0) sides.map(Placement.Blocks(_, most)) else Nil
  }

  /**
   * The most bytes of a side that is broadcast where it may be shuffled too: the driver holds several times as much
   * while it makes an index of them.
   */
  def limitBesideShuffle(conf: SQLConf): BigInt = {
    val most = BigInt(Settings.BroadcastMaxBytes.in(conf))
    if (conf.contains(Settings.BroadcastMaxBytes.key)) most
    else most.min(Runtime.getRuntime.maxMemory / HeapShare)
  }

  private val HeapShare = 16

  /**
   * The same if the join takes several times as long unless a side is broadcast: the size that the heaps of driver
   * and executors may just hold.
   */
  def limitOfBroadcast(conf: SQLConf): BigInt =
    if (conf.contains(Settings.BroadcastMaxBytes.key)) BigInt(Settings.BroadcastMaxBytes.in(conf))
    else {
      val ofExecutors = SparkSession.getActiveSession.map(s => Executors.heap(s.sparkContext))
      val least = (ofExecutors ++ Seq(Runtime.getRuntime.maxMemory)).min
      math.min(least * 2 / HeapShare, MostBytes)
    }

  /** Rows and index of more would be beyond Spark's limit of a broadcast. */
  private val MostBytes = 1L << 30

  /** Whether none of these sides is within a limit, and no hint says how the join is run. */
  def exceed(limit: BigInt, join: Join, sides: Seq[BuildSide], conf: SQLConf): Boolean =
    (join.hint.leftHint ++ join.hint.rightHint).flatMap(_.strategy).isEmpty &&
      sides.forall(isTooLarge(join, _, limit, conf))

  /** Spark would broadcast a side of unknown size, unless the join is inner. */
  private def isTooLarge(join: Join, side: BuildSide, limit: BigInt, conf: SQLConf): Boolean = {
    val plan = built(join, side)
    // A side that may be too large is measured by adaptive execution: see LargeJoins.
    val bytes =
      if (conf.adaptiveExecutionEnabled) PlausibleSize.of(plan) else plan.stats.sizeInBytes
    bytes > limit &&
    (join.joinType.isInstanceOf[InnerLike] || plan.stats.sizeInBytes < conf.defaultSizeInBytes)
  }

  /** Both sides, the one first whose rows need not be preserved, or the smaller. */
  def both(join: Join): Seq[BuildSide] = {
    val first = join.joinType match {
      case RightOuter => BuildLeft
      case _: InnerLike | FullOuter => smaller(join)
      case _ => BuildRight
    }
    Seq(first, if (first == BuildLeft) BuildRight else BuildLeft)
  }

  private def smaller(join: Join): BuildSide =
    if (size(join, BuildRight) <= size(join, BuildLeft)) BuildRight else BuildLeft

  private def size(join: Join, side: BuildSide): BigInt = built(join, side).stats.sizeInBytes

}
