package thetajoin.planner

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.thetabridge.Executors
import org.apache.spark.sql.internal.SQLConf

import thetajoin.{Settings, Yardsticks}

/** The sizes of a join's sides, and what fits where. */
private[thetajoin] object Sizes {

  def built(join: Join, side: BuildSide): LogicalPlan = side match {
    case BuildLeft => join.left
    case BuildRight => join.right
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

  def smaller(join: Join): BuildSide =
    if (size(join, BuildRight) <= size(join, BuildLeft)) BuildRight else BuildLeft

  /** A micro-batch of a stream may be of any size, whatever the statistics of this one say. */
  def size(join: Join, side: BuildSide): BigInt = {
    val plan = built(join, side)
    if (plan.isStreaming) Long.MaxValue else plan.stats.sizeInBytes
  }

  /**
   * The most bytes of a side that is broadcast where it may be shuffled too: the driver holds several times as much
   * while it makes an index of them.
   */
  def limitBesideShuffle(conf: SQLConf): BigInt = {
    val most = BigInt(Settings.BroadcastMaxBytes.in(conf))
    if (conf.contains(Settings.BroadcastMaxBytes.key)) most
    else most.min(Runtime.getRuntime.maxMemory / Yardsticks.HeapShare())
  }

  /**
   * The same if the join takes several times as long unless a side is broadcast: the size that the heaps of driver
   * and executors may just hold.
   */
  def limitOfBroadcast(conf: SQLConf): BigInt =
    if (conf.contains(Settings.BroadcastMaxBytes.key)) BigInt(Settings.BroadcastMaxBytes.in(conf))
    else {
      val ofExecutors = SparkSession.getActiveSession.map(s => Executors.heap(s.sparkContext))
      val least = (ofExecutors ++ Seq(Runtime.getRuntime.maxMemory)).min
      math.min(least * 2 / Yardsticks.HeapShare(), Yardsticks.MostBroadcastBytes())
    }

  /** Whether none of these sides is within a limit, and no hint says how the join is run. */
  def exceed(limit: BigInt, join: Join, sides: Seq[BuildSide], conf: SQLConf): Boolean =
    (join.hint.leftHint ++ join.hint.rightHint).flatMap(_.strategy).isEmpty &&
      sides.forall(isTooLarge(join, _, limit, conf))

  /** Spark would broadcast a side of unknown size, unless the join is inner. */
  def isTooLarge(join: Join, side: BuildSide, limit: BigInt, conf: SQLConf): Boolean = {
    val plan = built(join, side)
    // A side that may be too large is measured by adaptive execution: see LargeJoins.
    val bytes =
      if (conf.adaptiveExecutionEnabled) PlausibleSize.of(plan) else plan.stats.sizeInBytes
    bytes > limit &&
    (join.joinType.isInstanceOf[InnerLike] || plan.stats.sizeInBytes < conf.defaultSizeInBytes)
  }

  /** Whether a side is within the limit up to which Spark broadcasts it. */
  def fits(join: Join, side: BuildSide, conf: SQLConf): Boolean = {
    val stats = built(join, side).stats
    stats.sizeInBytes <= (if (stats.isRuntime) measuredLimit(conf)
                          else conf.autoBroadcastJoinThreshold)
  }

  /** Spark's limit of a broadcast whose size is no estimate. */
  def measuredLimit(conf: SQLConf): Long =
    conf.getConf(SQLConf.ADAPTIVE_AUTO_BROADCASTJOIN_THRESHOLD)
      .getOrElse(conf.autoBroadcastJoinThreshold)

  /**
   * Whether a side that was not measured is within a few times that limit. Where few rows of a key are looked at, the
   * other side would take longer to move.
   */
  def fitsByRange(join: Join, side: BuildSide, conf: SQLConf): Boolean = {
    val stats = built(join, side).stats
    val most = (BigInt(conf.autoBroadcastJoinThreshold) * Yardsticks.RangeFactor())
      .min(Settings.BroadcastMaxBytes.in(conf))
    // A side that has been shuffled is indexed by all cores, and need not move again.
    !stats.isRuntime && stats.sizeInBytes <= most
  }

  /** Whether a side has been measured, and is within a limit. */
  def isFoundSmall(side: LogicalPlan, limit: BigInt): Boolean =
    side.stats.isRuntime && side.stats.sizeInBytes <= limit

  /**
   * Whether some rows are so few that they may be broadcast, and others so many that it takes far longer to move them
   * than to read them, once more if asked.
   */
  def areFewBeside(
      few: LogicalPlan,
      many: LogicalPlan,
      readsTwice: Boolean,
      conf: SQLConf
  ): Boolean = {
    val limit = BigInt(conf.autoBroadcastJoinThreshold)
    val least =
      if (readsTwice) limit * Yardsticks.RangeFactor() else limit.min(Yardsticks.ManyBytes())
    few.stats.sizeInBytes <= limit && many.stats.sizeInBytes > least &&
    many.stats.sizeInBytes > few.stats.sizeInBytes * Yardsticks.RangeFactor()
  }
}
