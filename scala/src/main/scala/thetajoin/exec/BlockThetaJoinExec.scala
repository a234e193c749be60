package thetajoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.adaptive.ShufflePartitionsUtil
import org.apache.spark.sql.execution.metric.{
  SQLMetric,
  SQLMetrics,
  SQLShuffleReadMetricsReporter
}
import org.apache.spark.sql.execution.{
  CoalescedPartitionSpec,
  PartialReducerPartitionSpec,
  ShufflePartitionSpec,
  ShuffledRowRDD,
  SparkPlan
}

import thetajoin.driver.JoinMetrics
import thetajoin.relation.ThetaBroadcastMode

/**
 * A block join: the build side is cut into blocks that a task can hold, and each block meets all probe rows, or those of its partition if there are equal
 * keys. It is for two large sides that no keys bring together, or of which one key has more rows than a task can hold. If a side is preserved it is the
 * build side: whether a row has a match is then known in the task that has its block.
 *
 * Both sides are written to a shuffle, the build side ahead of the join: blocks are made by what was written. Which block a row is in depends on the row
 * alone, or on the task that wrote it, so that tasks may be run again.
 *
 * @param leftKeys equal keys by which both sides are partitioned, if there are some
 * @param condition the whole condition as Spark wrote it
 * @param blockBytes the most bytes of build rows that a task is given
 */
final case class BlockThetaJoinExec(
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    joinType: JoinType,
    buildSide: BuildSide,
    condition: Option[Expression],
    left: SparkPlan,
    right: SparkPlan,
    indexed: Seq[Expression],
    residual: Seq[Expression],
    probeKeys: Seq[Expression],
    probeFilter: Option[Expression],
    mode: ThetaBroadcastMode,
    blockBytes: Long
) extends PartitionJoin {
  import BlockThetaJoinExec._

  override def nodeName: String = "BlockThetaJoin"

  override def stringArgs: Iterator[Any] =
    super.stringArgs ++ (if (leftKeys.isEmpty) Nil else Seq(s"keys: $leftKeys = $rightKeys"))

  override def output: Seq[Attribute] = joinType match {
    case _: InnerLike => left.output ++ right.output
    case LeftOuter => left.output ++ right.output.map(_.withNullability(true))
    case RightOuter => left.output.map(_.withNullability(true)) ++ right.output
    case marks: ExistenceJoin => left.output :+ marks.exists
    case LeftExistence(_) => left.output
    case other => throw new IllegalArgumentException(s"a block join can't be $other")
  }

  override lazy val metrics: Map[String, SQLMetric] =
    JoinMetrics.create(sparkContext) + (Blocks -> SQLMetrics.createMetric(
      sparkContext,
      "number of blocks"
    ))

  override protected def sides(): (RDD[InternalRow], RDD[InternalRow]) = {
    val (probeEqui, buildEqui) =
      if (buildSide == BuildLeft) (rightKeys, leftKeys) else (leftKeys, rightKeys)
    val rowBytes = sparkContext.longAccumulator
    val cores = sparkContext.defaultParallelism
    val partitions = math.max(conf.numShufflePartitions, cores * PartitionsPerBlock)
    val built = write(build, buildEqui, partitions)(row => rowBytes.add(row.getSizeInBytes.toLong))
    val written = RowShuffle.run(built).getOrElse(Array.empty[Long])
    // What is written is compressed.
    val most = blockBytes.toDouble * written.sum / math.max(rowBytes.value.toLong, 1L)
    val shuffle = RowShuffle.dependency(built).shuffleId
    val ofBuild = blocks(written, math.max(most.toLong, 1L), cores)(
      ShufflePartitionsUtil.createSkewPartitionSpecs(shuffle, _, _)
    )
    longMetric(Blocks).set(ofBuild.length)
    val read = write(probe, probeEqui, if (probeEqui.isEmpty) 1 else partitions)(_ => ())
    val ofProbe = ofBuild.map(block => if (probeEqui.isEmpty) All else whole(block))
    (rows(read, ofProbe), rows(built, ofBuild))
  }

  private def write(side: SparkPlan, keys: Seq[Expression], partitions: Int)(
      count: UnsafeRow => Unit
  ): RowShuffle.Written = {
    val output = side.output
    val partitionOf: () => UnsafeRow => Int =
      if (partitions == 1) () => _ => 0
      else if (keys.isEmpty) () => row => row.hashCode
      else {
        val number = HashPartitioning(keys, partitions).partitionIdExpression
        () => {
          val ofKeys = UnsafeProjection.create(Seq(number), output)
          row => ofKeys(row).getInt(0)
        }
      }
    RowShuffle.write(side.execute(), output.map(_.dataType), partitions) { () =>
      val find = partitionOf()
      row => {
        count(row)
        find(row)
      }
    }
  }

  override protected def doCanonicalize(): SparkPlan =
    super.doCanonicalize().asInstanceOf[BlockThetaJoinExec].copy(mode = boundMode)

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): BlockThetaJoinExec = copy(left = newLeft, right = newRight)
}

private object BlockThetaJoinExec {
  val Blocks = "blocks"

  /** Of a shuffle to one partition. */
  private val All = CoalescedPartitionSpec(0, 1)

  /** All rows of the partitions that a block has rows of. */
  private def whole(block: ShufflePartitionSpec): ShufflePartitionSpec = block match {
    case PartialReducerPartitionSpec(partition, _, _, _) =>
      CoalescedPartitionSpec(partition, partition + 1)
    case other => other
  }

  /** A partition is a part of a block, so that blocks are about equal. */
  private val PartitionsPerBlock = 16

  /**
   * Neighbouring partitions together, in as many blocks as there are cores or, if these would have more than `most` bytes, in more. A partition that has
   * more by itself is cut.
   *
   * @param written the bytes of each partition
   * @param cut a partition into parts of about so many bytes, if that can be done
   */
  def blocks(written: Array[Long], most: Long, cores: Int)(
      cut: (Int, Long) => Option[Seq[ShufflePartitionSpec]]
  ): Array[ShufflePartitionSpec] = {
    val count = math.max(cores.toLong, (written.sum + most - 1) / most)
    val size = math.max(written.sum.toDouble / count, 1.0)
    val found = Array.newBuilder[ShufflePartitionSpec]
    var (first, open, before) = (0, -1L, 0L)
    def endAt(partition: Int): Unit = {
      if (partition > first) found += CoalescedPartitionSpec(first, partition)
      first = partition
    }
    for ((bytes, partition) <- written.zipWithIndex) {
      val block = ((before + bytes / 2) / size).toLong
      if (block != open) endAt(partition)
      open = block
      if (bytes > most)
        cut(partition, most).foreach { parts =>
          endAt(partition)
          found ++= parts
          first = partition + 1
        }
      before += bytes
    }
    endAt(written.length)
    found.result()
  }

  private def rows(
      shuffle: RowShuffle.Written,
      read: Array[ShufflePartitionSpec]
  ): RDD[InternalRow] = {
    val metrics = SQLShuffleReadMetricsReporter.createShuffleReadMetrics(shuffle.sparkContext)
    new ShuffledRowRDD(RowShuffle.dependency(shuffle), metrics, read)
  }
}
