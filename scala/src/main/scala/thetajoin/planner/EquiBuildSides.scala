package thetajoin.planner

import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf

import thetajoin.Settings
import thetajoin.condition.JoinShape
import thetajoin.driver.JoinRole
import thetajoin.hints.ThetaHint
import thetajoin.reason.{Reason, ReasonCode}

/**
 * How the rows of a join on equality keys meet. Existence joins are accelerated, and other joins that compare more
 * than the keys: if all rows of a key are needed, Spark's own joins serve. Spark's own limits of a broadcast apply,
 * apart from [[RangeFactor]].
 */
private[thetajoin] object EquiBuildSides {

  /**
   * In tiers. Each tier is tried only if no earlier one serves.
   *
   * @param servesMore whether an accelerator would serve more of the condition than its equality keys with this side
   *   built
   */
  def choose(
      join: Join,
      shape: JoinShape,
      conf: SQLConf,
      servesMore: BuildSide => Boolean
  ): Either[Reason, Seq[Seq[Placement]]] =
    BuildSides.broadcastAlready(join).map(_.map(side => Seq(Seq(Placement.Broadcast(side)))))
      .getOrElse {
        shuffleHint(join) match {
          case Some(hint) => Left(ReasonCode.Hinted(hint.displayName))
          case None =>
            val isExistence = JoinRole.of(join.joinType, BuildRight).exists(_.isExistence)
            val found =
              if (isExistence) ofExistence(join, conf) else ofPairs(join, shape, conf, servesMore)
            if (ThetaHint.isForced(join)) Right(found.getOrElse(Nil) :+ forced(join)) else found
        }
      }

  /** Of a join with the first of a left row's matches. The right side is built. */
  def ofRanked(
      join: Join,
      blocksAbove: Option[BigInt],
      conf: SQLConf
  ): Either[Reason, Seq[Seq[Placement]]] =
    BuildSides.broadcastAlready(join).map(_.map(side => Seq(Seq(Placement.Broadcast(side)))))
      .getOrElse {
        def isShuffled = ExtractEquiJoinKeys.unapply(join).isDefined &&
          !(fits(join, BuildRight, conf) || fitsByRange(join, BuildRight, conf))
        Right(Seq(Seq(
          if (blocksAbove.exists(!isFoundSmall(join.right, _)))
            Placement.Blocks(BuildRight, TaskShare.buildBytes(conf))
          else if (isShuffled) Placement.Shuffle(BuildRight)
          else Placement.Broadcast(BuildRight)
        )))
      }

  private def isFoundSmall(side: LogicalPlan, limit: BigInt): Boolean =
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
    val least = if (readsTwice) limit * RangeFactor else limit.min(ManyBytes)
    few.stats.sizeInBytes <= limit && many.stats.sizeInBytes > least &&
    many.stats.sizeInBytes > few.stats.sizeInBytes * RangeFactor
  }

  /** More bytes than these take longer to broadcast and index than a few more stages of few rows do. */
  private val ManyBytes = BigInt(4L << 20)

  private def forced(join: Join): Seq[Placement] =
    BuildSides.hinted(join).fold(BuildSides.both(join))(Seq(_)).map(Placement.Broadcast(_))

  private def ofExistence(join: Join, conf: SQLConf): Either[Reason, Seq[Seq[Placement]]] = {
    val sides = broadcastable(join, Seq(BuildRight, BuildLeft))
    val hinted = sides.find(side => hint(join, side).contains(BROADCAST))
    hinted.orElse(sides.find(fits(join, _, conf))) match {
      case Some(BuildLeft) => Right(Seq(Seq(Placement.Broadcast(BuildLeft))))
      case _ if prunesPartitions(join.left) => Left(equiKeys(join))
      case Some(BuildRight) => Right(Seq(Seq(Placement.Broadcast(BuildRight))))
      case None =>
        val ofRows = shuffles(join, Seq(BuildRight), conf)
        val bytes = TaskShare.buildBytes(conf)
        if (bytes > 0 && mayBroadcast(join, conf) && !hasBuckets(join))
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
    val sides = BuildSides.both(join)
    val isRange = shape.plainComparisons.size >= 2
    def isSmall(side: BuildSide) =
      fits(join, side, conf) || isRange && fitsByRange(join, side, conf)
    def small = broadcastable(join, sides).filter(isSmall)
    BuildSides.hinted(join).fold(small)(Seq(_)) match {
      case _ if !sides.exists(servesMore) || join.children.exists(prunesPartitions) =>
        Left(equiKeys(join))
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
        val blocks = BuildSides.blocks(join, conf)
        if (blocks.nonEmpty) Right(Seq(blocks))
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

  /**
   * Whether a side may be broadcast where few rows of a key are looked at: then the other side would take longer to
   * move.
   */
  private def fitsByRange(join: Join, side: BuildSide, conf: SQLConf): Boolean = {
    val stats = BuildSides.built(join, side).stats
    val most = (BigInt(conf.autoBroadcastJoinThreshold) * RangeFactor)
      .min(Settings.BroadcastMaxBytes.in(conf))
    // A side that has been shuffled is indexed by all cores, and need not move again.
    !stats.isRuntime && mayBroadcast(join, conf) && !hasBuckets(join) && stats.sizeInBytes <= most
  }

  /** So many times Spark's own limit of a broadcast, up to ours. */
  private val RangeFactor = 4

  def equiKeys(join: Join): Reason = {
    val keys = join match {
      case ExtractEquiJoinKeys(_, leftKeys, rightKeys, _, _, _, _, _) =>
        leftKeys.zip(rightKeys).map { case (l, r) => s"${l.sql} = ${r.sql}" }
      case _ => Nil
    }
    ReasonCode.EquiKeys(keys.mkString(", "))
  }

  private def hint(join: Join, side: BuildSide): Option[JoinStrategyHint] = (side match {
    case BuildLeft => join.hint.leftHint
    case BuildRight => join.hint.rightHint
  }).flatMap(_.strategy)

  private def shuffleHint(join: Join): Option[JoinStrategyHint] =
    Seq(BuildLeft, BuildRight).flatMap(hint(join, _)).find {
      case BROADCAST | NO_BROADCAST_HASH => false
      case _ => true
    }

  private def fits(join: Join, side: BuildSide, conf: SQLConf): Boolean = {
    val stats = BuildSides.built(join, side).stats
    stats.sizeInBytes <= (if (stats.isRuntime) measuredLimit(conf)
                          else conf.autoBroadcastJoinThreshold)
  }

  /** Spark's limit of a broadcast whose size is no estimate. */
  private def measuredLimit(conf: SQLConf): Long =
    conf.getConf(SQLConf.ADAPTIVE_AUTO_BROADCASTJOIN_THRESHOLD)
      .getOrElse(conf.autoBroadcastJoinThreshold)

  /** Whether keys may be broadcast if they turn out to be few. Where not, Spark's sorted join keeps its place. */
  private def mayBroadcast(join: Join, conf: SQLConf): Boolean =
    measuredLimit(conf) >= 0 && !hint(join, BuildRight).contains(NO_BROADCAST_HASH)

  /** Whether Spark may join bucket by bucket and shuffle nothing. */
  private def hasBuckets(join: Join): Boolean = Partitions.buckets(join).nonEmpty

  /** Whether Spark prunes partitions of a side by a join's keys, for which it wants a broadcast of its own. */
  private def prunesPartitions(side: LogicalPlan): Boolean =
    side.exists(_.expressions.exists(_.exists(_.isInstanceOf[DynamicPruningSubquery])))
}
