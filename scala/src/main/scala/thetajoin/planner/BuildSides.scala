package thetajoin.planner

import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.physical.BroadcastPartitioning
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.internal.SQLConf

import thetajoin.Settings
import thetajoin.reason.{Reason, ReasonCode}
import thetajoin.relation.ThetaBroadcastMode

/** Which side of a join is broadcast. */
private[thetajoin] object BuildSides {

  /** The sides that may be, the one first that is taken if both cost the same. */
  def choose(join: Join, conf: SQLConf): Either[Reason, Seq[BuildSide]] =
    broadcastAlready(join).map(_.map(Seq(_))).getOrElse {
      if (asksForCartesian(join.hint)) Left(ReasonCode.Hinted("SHUFFLE_REPLICATE_NL"))
      else hinted(join).map(side => Right(Seq(side))).getOrElse(bySize(join, conf))
    }

  def built(join: Join, side: BuildSide): LogicalPlan = side match {
    case BuildLeft => join.left
    case BuildRight => join.right
  }

  /** Whether adaptive execution has run our broadcast of a side: it must be taken, whatever statistics now say. */
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

  /** Spark itself says of a MERGE's target that it must stay where it is: two matches of one of its rows are found by the task that has it. */
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

  private def bySize(join: Join, conf: SQLConf): Either[Reason, Seq[BuildSide]] = {
    val limit = Settings.BroadcastMaxBytes.in(conf)
    // Spark runs a join that is not inner as a broadcast nested loop at any size.
    val isAnySize = ThetaHint.isForced(join) || !join.joinType.isInstanceOf[InnerLike]
    val sides = both(join).filter(side => isAnySize || size(join, side) <= limit)
    if (sides.nonEmpty) Right(sides)
    else
      Left(ReasonCode.BuildTooLarge(
        s"left ${join.left.stats.sizeInBytes} bytes, right ${join.right.stats.sizeInBytes} bytes, " +
          s"limit $limit bytes"
      ))
  }

  /** The most bytes of a side that is broadcast where it may be shuffled too: the driver holds several times as much while it makes an index of them. */
  def limitBesideShuffle(conf: SQLConf): BigInt = {
    val most = BigInt(Settings.BroadcastMaxBytes.in(conf))
    if (conf.contains(Settings.BroadcastMaxBytes.key)) most
    else most.min(Runtime.getRuntime.maxMemory / HeapShare)
  }

  private val HeapShare = 16

  /** Whether neither side is small enough for that, nor asked to be broadcast. Spark would broadcast a side of unknown size, unless the join is inner. */
  def exceedBroadcast(join: Join, conf: SQLConf): Boolean = {
    val hints = (join.hint.leftHint ++ join.hint.rightHint).flatMap(_.strategy)
    val sizes = both(join).map(size(join, _))
    hints.isEmpty && sizes.forall(_ > limitBesideShuffle(conf)) &&
    (join.joinType.isInstanceOf[InnerLike] || sizes.forall(_ < conf.defaultSizeInBytes))
  }

  /** Both sides, the one first whose rows need not be preserved, or the smaller. */
  private[planner] def both(join: Join): Seq[BuildSide] = {
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
