package thetajoin.planner

import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.execution.adaptive.{LogicalQueryStage, ShuffleQueryStageExec}
import org.apache.spark.sql.internal.SQLConf

/** How large the partitions of a side are that is shuffled by a join's keys. */
private[planner] object Partitions {

  /** Bytes of the largest that is not going to be split: as written if the shuffle has run, else the mean by estimate. */
  def largest(join: Join, side: BuildSide, conf: SQLConf): BigInt = {
    val plan = BuildSides.built(join, side)
    val size = plan.stats.sizeInBytes
    written(plan).filter(_.exists(_ > 0)) match {
      case None => size / conf.numShufflePartitions
      case Some(partitions) =>
        val isSplit: Long => Boolean =
          if (maySplit(join.joinType, side)) isSkewed(partitions, conf) else _ => false
        val largest = partitions.iterator.filterNot(isSplit).maxOption.getOrElse(0L)
        // What is written is compressed.
        size * largest / partitions.sum
    }
  }

  private def written(plan: LogicalPlan): Option[Array[Long]] = plan match {
    case LogicalQueryStage(_, stage: ShuffleQueryStageExec) if stage.isMaterialized =>
      stage.mapStats.map(_.bytesByPartitionId)
    case _ => None
  }

  /** Whether adaptive execution may split a partition of the built side, and join each piece with the whole partition of the other. */
  private def maySplit(joinType: JoinType, side: BuildSide): Boolean = (joinType, side) match {
    case (_: InnerLike, _) => true
    case (LeftOuter, BuildLeft) | (RightOuter, BuildRight) => true
    case _ => false
  }

  /** As adaptive execution has it. */
  private def isSkewed(partitions: Array[Long], conf: SQLConf): Long => Boolean = {
    val median = partitions.sorted.apply(partitions.length / 2)
    val threshold = math.max(
      conf.getConf(SQLConf.SKEW_JOIN_SKEWED_PARTITION_THRESHOLD),
      (median * conf.getConf(SQLConf.SKEW_JOIN_SKEWED_PARTITION_FACTOR)).toLong
    )
    bytes => conf.getConf(SQLConf.SKEW_JOIN_ENABLED) && bytes > threshold
  }
}
