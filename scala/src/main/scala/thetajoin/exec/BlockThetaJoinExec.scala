package thetajoin.exec

import org.apache.spark.ShuffleDependency
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.BuildLeft
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, Partitioning}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{
  AQEShuffleReadExec,
  ShufflePartitionsUtil,
  ShuffleQueryStageExec
}
import org.apache.spark.sql.execution.exchange.{ReusedExchangeExec, ShuffleExchangeExec}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

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
        math.max(conf.numShufflePartitions, sparkContext.defaultParallelism * PartitionsPerBlock)
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
      (ofBuild.compressed(blockBytes), ofProbe.compressed(blockBytes) * ProbeBlocks)
    if (leftKeys.nonEmpty) {
      // A row that is asked for a match must meet all rows of its keys in one task.
      val cutsBuild = join.role.probeExistence.isEmpty
      val weights = ofBuild.weights(most).zip(ofProbe.weights(mostProbed)).map {
        case (build, probed) => math.max(build, probed)
      }
      val built = blocks(weights, Weight, cores) { (partition, _) =>
        if (cutsBuild) ofBuild.partsOf(partition, most) else None
      }
      postMetrics(Blocks -> built.length.toLong)
      for {
        block <- built
        rows <- if (mayCut) ofProbe.cut(whole(block), mostProbed) else Seq(whole(block))
      } yield (rows, block)
    } else {
      val built = ofBuild.blocks(most, fewest(ofBuild.count(most), mayCut, cores))
      postMetrics(Blocks -> built.length.toLong)
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

private object BlockThetaJoinExec {
  val Blocks = "blocks"

  /** A partition is a part of a block, so that blocks are about equal. */
  private val PartitionsPerBlock = 16

  private val Weight = 1L << 30

  /** A task is given so many times the bytes of a block of probe rows, if these may be cut. */
  private val ProbeBlocks = 4

  /**
   * Rows in a shuffle.
   *
   * @param known the bytes of each partition, if all are written
   */
  private final class Written(
      dependency: ShuffleDependency[Int, InternalRow, InternalRow],
      rowBytes: => Long,
      known: Option[Array[Long]] = None
  ) {
    def this(exchanged: Exchanged) =
      this(
        exchanged.exchange.shuffleDependency,
        exchanged.exchange.metrics("dataSize").value,
        exchanged.written
      )

    private lazy val sizes: Array[Long] =
      known.orElse(RowShuffle.run(dependency)).getOrElse(new Array[Long](partitions))

    def partitions: Int = dependency.partitioner.numPartitions

    /** The bytes that so many bytes of rows take where they are written. */
    def compressed(bytes: Long): Long = {
      val ofAll = sizes.sum
      math.max((bytes.toDouble * ofAll / math.max(rowBytes, 1L)).toLong, 1L)
    }

    /** How many blocks of so many bytes at most there must be. */
    def count(most: Long): Int = math.max(math.ceil(sizes.sum.toDouble / most).toInt, 1)

    def blocks(most: Long, least: Int): Array[ShufflePartitionSpec] =
      BlockThetaJoinExec.blocks(sizes, most, least)(partsOf)

    /** For each partition its share of the bytes that a task may read: [[Weight]] is all of them. */
    def weights(most: Long): Array[Long] =
      sizes.map(bytes => (bytes.toDouble / most * Weight).toLong)

    /** The rows of a single partition in several parts, if they are many. */
    def cut(rows: CoalescedPartitionSpec, most: Long): Seq[ShufflePartitionSpec] = {
      val isLarge = rows.endReducerIndex == rows.startReducerIndex + 1 &&
        sizes.lift(rows.startReducerIndex).exists(_ > most)
      (if (isLarge) partsOf(rows.startReducerIndex, most) else None).getOrElse(Seq(rows))
    }

    def partsOf(partition: Int, bytes: Long): Option[Seq[ShufflePartitionSpec]] =
      ShufflePartitionsUtil.createSkewPartitionSpecs(dependency.shuffleId, partition, bytes)

    def rows(parts: Array[ShufflePartitionSpec]): RDD[InternalRow] =
      RowShuffle.read(dependency, parts)
  }

  /** A shuffle of Spark's, and the bytes of each partition if adaptive execution has run it. */
  private final case class Exchanged(
      exchange: ShuffleExchangeExec,
      written: Option[Array[Long]] = None
  ) {
    def partitioning: Partitioning = exchange.outputPartitioning
  }

  /** The shuffle that a side is read from, if it is one. */
  private def exchanged(side: SparkPlan): Option[Exchanged] = side match {
    case exchange: ShuffleExchangeExec => Some(Exchanged(exchange))
    case ReusedExchangeExec(_, exchange: ShuffleExchangeExec) => Some(Exchanged(exchange))
    case stage: ShuffleQueryStageExec =>
      exchanged(stage.plan).map(_.copy(written = stage.mapStats.map(_.bytesByPartitionId)))
    case InputAdapter(below) => exchanged(below)
    case read: AQEShuffleReadExec => exchanged(read.child)
    case _ => None
  }

  /**
   * How many blocks there are at least if so many are needed. All of them take about as long, so that cores are idle
   * in the end unless they share the blocks evenly: by whole blocks, or few blocks by their probe rows.
   */
  def fewest(needed: Int, mayCut: Boolean, cores: Int): Int =
    if (mayCut && needed <= cores / 2) needed else (needed + cores - 1) / cores * cores

  private def whole(partition: Int) = Seq(CoalescedPartitionSpec(partition, partition + 1))

  /** All rows of the partitions that a block has rows of. */
  private def whole(block: ShufflePartitionSpec): CoalescedPartitionSpec = block match {
    case PartialReducerPartitionSpec(partition, _, _, _) =>
      CoalescedPartitionSpec(partition, partition + 1)
    case several: CoalescedPartitionSpec =>
      CoalescedPartitionSpec(several.startReducerIndex, several.endReducerIndex)
    case other => throw new IllegalStateException(s"a block can't be $other")
  }

  /**
   * Neighbouring partitions together, in `least` blocks or, if these would have more than `most` bytes, in more. A
   * partition that has more by itself is cut, or is a block if it can't be.
   *
   * @param written the bytes of each partition
   * @param cut a partition into parts of about so many bytes, if that can be done
   */
  def blocks(written: Array[Long], most: Long, least: Int)(
      cut: (Int, Long) => Option[Seq[ShufflePartitionSpec]]
  ): Array[ShufflePartitionSpec] = {
    val count = math.max(least.toLong, math.ceil(written.sum.toDouble / most).toLong)
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
      if (bytes > most) {
        endAt(partition)
        found ++= cut(partition, most).getOrElse(whole(partition))
        first = partition + 1
      }
      before += bytes
    }
    endAt(written.length)
    found.result()
  }
}
