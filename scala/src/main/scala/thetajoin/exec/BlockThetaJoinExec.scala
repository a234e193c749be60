package thetajoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.BuildLeft
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import thetajoin.Yardsticks
import thetajoin.driver.{JoinMetrics, ThetaJoin}
import thetajoin.logical.StableColumns

/**
 * A block join: the build side is cut into blocks that a task can hold, and each block meets all probe rows, or with
 * equality keys the probe rows of its partition. It is for two large sides without equality keys, or with more rows
 * of one key than a task can hold, and for existence joins on keys. If a side is preserved it is the build side: the
 * task that has a row's block then knows whether the row has a match. Existence joins on keys may build their right
 * side instead: its partitions are not cut, so a left row meets all rows of its keys in one task.
 *
 * Both sides are in a shuffle, one of Spark's or one of this node. Blocks are made of the written partitions, before
 * any task of the join starts. The block of a row depends on its values alone, or on the task that wrote it, so tasks
 * may be run again.
 *
 * @param leftKeys equality keys by which both sides are partitioned, if there are some
 * @param condition the whole condition as Spark wrote it
 * @param blockBytes the most bytes of build rows that a task is given
 */
final case class BlockThetaJoinExec(
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    joinType: JoinType,
    condition: Option[Expression],
    left: SparkPlan,
    right: SparkPlan,
    blockBytes: Long,
    join: ThetaJoin
) extends PartitionJoin {
  import Blocks._

  override def nodeName: String = "BlockThetaJoin"

  override def withJoin(changed: ThetaJoin): BlockThetaJoinExec = copy(join = changed)

  override def stringArgs: Iterator[Any] =
    super.stringArgs ++ (if (leftKeys.isEmpty) Nil else Seq(s"keys: $leftKeys = $rightKeys"))

  override def output: Seq[Attribute] = folded(joinType match {
    case _: InnerLike => left.output ++ right.output
    case LeftOuter => left.output ++ right.output.map(_.withNullability(true))
    case RightOuter => left.output.map(_.withNullability(true)) ++ right.output
    case marks: ExistenceJoin => left.output :+ marks.exists
    case LeftExistence(_) => left.output
    case other => throw new IllegalArgumentException(s"a block join can't be $other")
  })

  override lazy val metrics: Map[String, SQLMetric] =
    JoinMetrics.create(sparkContext) + (JoinMetrics.Blocks -> SQLMetrics.createMetric(
      sparkContext,
      "number of blocks"
    ))

  override protected def sides(): (RDD[InternalRow], RDD[InternalRow]) = {
    val (ofProbe, ofBuild) = written()
    val meetings = pairs(ofProbe, ofBuild)
    (ofProbe.rows(meetings.map(_._1)), ofBuild.rows(meetings.map(_._2)))
  }

  // ---- What was written -------------------------------------------------------------------------

  /** Probe side and build side. */
  private def written(): (Written, Written) = {
    val (probeEqui, buildEqui) =
      if (buildSide == BuildLeft) (rightKeys, leftKeys) else (leftKeys, rightKeys)
    val (ofProbe, ofBuild) = (exchanged(probe), exchanged(build))
    def isBy(exchanged: Exchanged, keys: Seq[Expression]) =
      exchanged.partitioning match {
        case HashPartitioning(by, _) =>
          by.size == keys.size && by.zip(keys).forall { case (a, b) => a.semanticEquals(b) }
        case _ => false
      }
    def arranged = for {
      one <- ofProbe.filter(isBy(_, probeEqui))
      other <- ofBuild.filter(isBy(_, buildEqui))
      if one.partitioning.numPartitions == other.partitioning.numPartitions
    } yield (new Written(one), new Written(other))
    if (leftKeys.isEmpty)
      (
        ofProbe.fold(write(probe, StableColumns(probe.output)))(new Written(_)),
        ofBuild.fold(write(build, StableColumns(build.output)))(new Written(_))
      )
    else arranged.orElse {
      // The other side follows.
      for (one <- ofBuild.filter(isBy(_, buildEqui)))
        yield (write(probe, probeEqui, one.partitioning.numPartitions), new Written(one))
    }.getOrElse((write(probe, probeEqui), write(build, buildEqui)))
  }

  private def write(
      side: SparkPlan,
      by: Seq[Expression],
      partitions: Int =
        math.max(
          conf.numShufflePartitions,
          sparkContext.defaultParallelism * Yardsticks.PartitionsPerBlock()
        )
  ): Written = {
    val number = HashPartitioning(by, partitions).partitionIdExpression
    val (output, rowBytes) = (side.output, sparkContext.longAccumulator)
    val shuffle = RowShuffle.write(side.execute(), output.map(_.dataType), partitions) { () =>
      val ofKeys = UnsafeProjection.create(Seq(number), output)
      row => {
        rowBytes.add(row.getSizeInBytes.toLong)
        ofKeys(row).getInt(0)
      }
    }
    new Written(RowShuffle.dependency(shuffle), rowBytes.value)
  }

  // ---- Which blocks meet which rows -------------------------------------------------------------

  /** The rows that each task reads of the probe side and of the build side. */
  private def pairs(
      ofProbe: Written,
      ofBuild: Written
  ): Array[(ShufflePartitionSpec, ShufflePartitionSpec)] = {
    val cores = sparkContext.defaultParallelism
    // Probe rows of a block may go to several tasks if no build row has to be compared with all of them.
    val mayCut = !join.role.needsMatchedBuildRows
    val (most, mostProbed) =
      (ofBuild.compressed(blockBytes), ofProbe.compressed(blockBytes) * Yardsticks.ProbeBlocks())
    if (leftKeys.nonEmpty) {
      // A row that is asked for a match must meet all rows of its keys in one task.
      val cutsBuild = join.role.probeExistence.isEmpty
      val weights = ofBuild.weights(most).zip(ofProbe.weights(mostProbed)).map {
        case (build, probed) => math.max(build, probed)
      }
      val built = blocks(weights, Weight, cores) { (partition, _) =>
        if (cutsBuild) ofBuild.partsOf(partition, most) else None
      }
      postMetrics(JoinMetrics.Blocks -> built.length.toLong)
      for {
        block <- built
        rows <- if (mayCut) ofProbe.cut(whole(block), mostProbed) else Seq(whole(block))
      } yield (rows, block)
    } else {
      val built = ofBuild.blocks(most, fewest(ofBuild.count(most), mayCut, cores))
      postMetrics(JoinMetrics.Blocks -> built.length.toLong)
      val parts = if (mayCut && built.nonEmpty) math.max(cores / built.length, 1) else 1
      val probed =
        if (parts > 1) ofProbe.blocks(Long.MaxValue, parts)
        else Array[ShufflePartitionSpec](CoalescedPartitionSpec(0, ofProbe.partitions))
      for (block <- built; rows <- probed) yield (rows, block)
    }
  }

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): BlockThetaJoinExec = copy(left = newLeft, right = newRight)
}
