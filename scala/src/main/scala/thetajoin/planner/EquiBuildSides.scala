package thetajoin.planner

import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.internal.SQLConf

import thetajoin.condition.JoinShape
import thetajoin.driver.JoinRole
import thetajoin.reason.{Reason, ReasonCode}

/**
 * Which side of a join on equal keys is broadcast. Existence joins are taken, and others that compare more than the keys: where all
 * rows of a key are needed, Spark's own joins serve. The limits are those of Spark's own broadcast joins, but for
 * [[RangeFactor]].
 */
private[planner] object EquiBuildSides {

  def choose(join: Join, shape: JoinShape, conf: SQLConf): Either[Reason, Placement] = {
    val isExistence = JoinRole.of(join.joinType, BuildRight).exists(_.isExistence)
    BuildSides.broadcastAlready(join).map(_.map(Placement.Broadcast)).getOrElse {
      shuffleHint(join) match {
        case Some(hint) => Left(ReasonCode.Hinted(hint.displayName))
        case None =>
          val found = if (isExistence) ofExistence(join, conf) else ofPairs(join, shape, conf)
          if (ThetaHint.isForced(join))
            found.orElse(Right(Placement.Broadcast(BuildSides.chosen(join))))
          else found
      }
    }
  }

  private def ofExistence(join: Join, conf: SQLConf): Either[Reason, Placement] = {
    val sides = broadcastable(join, Seq(BuildRight, BuildLeft))
    val hinted = sides.find(side => hint(join, side).contains(BROADCAST))
    hinted.orElse(sides.find(fits(join, _, conf))) match {
      case Some(BuildLeft) => Right(Placement.Broadcast(BuildLeft))
      case _ if prunesPartitions(join.left) => Left(equiKeys(join))
      case Some(side) => Right(Placement.Broadcast(side))
      case None if !mayBroadcast(join, conf) || hasBuckets(join) => Left(equiKeys(join))
      case None => Right(shuffle(join, conf))
    }
  }

  private def ofPairs(join: Join, shape: JoinShape, conf: SQLConf): Either[Reason, Placement] = {
    val comparisons = shape.plainComparisons.size
    val most =
      if (comparisons < 2 || !mayBroadcast(join, conf) || hasBuckets(join)) BigInt(-1)
      else BigInt(conf.autoBroadcastJoinThreshold) * RangeFactor
    def isSmall(side: BuildSide) =
      fits(join, side, conf) || BuildSides.built(join, side).stats.sizeInBytes <= most
    val preferred = broadcastable(join, Seq(BuildSides.preferred(join))).filter(isSmall)
    BuildSides.hinted(join).orElse(preferred.headOption) match {
      case Some(side) if comparisons > 0 && !join.children.exists(prunesPartitions) =>
        Right(Placement.Broadcast(side))
      case _ => Left(equiKeys(join))
    }
  }

  private def broadcastable(join: Join, sides: Seq[BuildSide]): Seq[BuildSide] =
    sides.filterNot(side => hint(join, side).contains(NO_BROADCAST_HASH))

  /**
   * So many times Spark's own limit of a broadcast holds where two comparisons choose among the rows of a key: moving them costs
   * less than looking at all pairs of a key.
   */
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

  private def shuffle(join: Join, conf: SQLConf): Placement = {
    val bytes = join.left.stats.sizeInBytes + join.right.stats.sizeInBytes
    val partitions = (bytes / PartitionBytes).max(MinPartitions).min(conf.numShufflePartitions)
    Placement.Shuffle(partitions.toInt, measuredLimit(conf))
  }

  private val PartitionBytes = BigInt(32L << 20)
  private val MinPartitions = BigInt(8)

  /** Whether Spark may join bucket by bucket and shuffle nothing. */
  private def hasBuckets(join: Join): Boolean = join.exists {
    case scan: LogicalRelation =>
      scan.relation match {
        case files: HadoopFsRelation => files.bucketSpec.isDefined
        case _ => false
      }
    case _ => false
  }

  /** Whether Spark prunes partitions of a side by a join's keys, for which it wants a broadcast of its own. */
  private def prunesPartitions(side: LogicalPlan): Boolean =
    side.exists(_.expressions.exists(_.exists(_.isInstanceOf[DynamicPruningSubquery])))
}
