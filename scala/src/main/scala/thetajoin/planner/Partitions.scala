package thetajoin.planner

import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, RepartitionByExpression}
import org.apache.spark.sql.execution.adaptive.{LogicalQueryStage, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.internal.SQLConf

/** How large the partitions of a side are that is shuffled by a join's keys. */
private[planner] object Partitions {

  /** Bytes of the largest: as written if the shuffles have run, else the mean by estimate. */
  def largest(join: Join, side: BuildSide, conf: SQLConf): BigInt = {
    val plan = Sizes.built(join, side)
    val size = plan.stats.sizeInBytes
    written(plan).filter(_.exists(_ > 0)) match {
      case None => size / fewest(plan, conf)
      case Some(partitions) =>
        val probed = Sizes.built(join, if (side == BuildLeft) BuildRight else BuildLeft)
        // Written rows are compressed. A side whose shuffle has not run may still turn out to be smaller, and then
        // the join is planned again.
        val others = written(probed).map(partitions => BigInt(partitions.sum))
          .getOrElse(probed.stats.sizeInBytes * partitions.sum / size.max(1))
        size * math.max(partitions.max, merged(partitions.sum, others, conf)) / partitions.sum
    }
  }

  private def written(plan: LogicalPlan): Option[Array[Long]] = plan match {
    case LogicalQueryStage(_, stage: ShuffleQueryStageExec) if stage.isMaterialized =>
      stage.mapStats.map(_.bytesByPartitionId)
    case _ => None
  }

  /** The build rows' part of the size to which adaptive execution merges small partitions. */
  private def merged(built: Long, probed: BigInt, conf: SQLConf): Long =
    if (!conf.coalesceShufflePartitionsEnabled) 0L
    else {
      val advised = conf.getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES)
      math.min(built, (BigInt(advised) * built / (built + probed)).toLong)
    }

  /** A side that is partitioned already may stay so. */
  private def fewest(plan: LogicalPlan, conf: SQLConf): Int =
    (conf.numShufflePartitions +: (buckets(plan) ++ plan.collect {
      case repartition: RepartitionByExpression => repartition.optNumPartitions
    }.flatten)).min

  /** The numbers of buckets of the tables of a plan that have some. */
  def buckets(plan: LogicalPlan): Seq[Int] = plan.collect { case scan: LogicalRelation =>
    scan.relation match {
      case files: HadoopFsRelation => files.bucketSpec.map(_.numBuckets)
      case _ => None
    }
  }.flatten

  /** Whether Spark prunes partitions of a side by a join's keys, for which it wants a broadcast of its own. */
  def arePruned(side: LogicalPlan): Boolean =
    side.exists(_.expressions.exists(_.exists(_.isInstanceOf[DynamicPruningSubquery])))
}
