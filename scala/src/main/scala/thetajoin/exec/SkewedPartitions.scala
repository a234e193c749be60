package thetajoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.adaptive.ShufflePartitionsUtil
import org.apache.spark.sql.execution.{CoalescedPartitionSpec, ShufflePartitionSpec}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.{NarrowDependency, Partition, TaskContext}

/**
 * Partitions of a shuffle that are much larger than others, as a frequent key makes one. What is much, and into parts of which size
 * they are cut, is what adaptive execution goes by for Spark's own joins.
 */
private[exec] object SkewedPartitions {

  /**
   * Rows of two shuffles by the same keys, partition by partition. A large partition of the probe side is several, each with the rows
   * of some of the tasks that wrote it, beside all keys. It is written ahead for that, if a partition may be large.
   *
   * @param probeBytes an estimate
   */
  def aligned(
      probe: RowShuffle.Written,
      probeBytes: BigInt,
      keys: RDD[InternalRow],
      conf: SQLConf
  ): (RDD[InternalRow], RDD[InternalRow]) = {
    val splits = conf.adaptiveExecutionEnabled && conf.getConf(SQLConf.SKEW_JOIN_ENABLED) &&
      probeBytes >= conf.getConf(SQLConf.SKEW_JOIN_SKEWED_PARTITION_THRESHOLD)
    val written = RowShuffle.dependency(probe)
    val parts =
      if (splits) RowShuffle.run(written).map(cut(written.shuffleId, _, conf)) else None
    parts match {
      case Some(parts) if parts.length > keys.getNumPartitions =>
        val rows = RowShuffle.read(written, parts.map(_._2))
        (rows, new PickedPartitions(keys, parts.map(_._1)))
      case _ => (RowShuffle.rowsOf(probe), keys)
    }
  }

  /** What to read, each with the partition that it is of. */
  private def cut(
      shuffle: Int,
      sizes: Array[Long],
      conf: SQLConf
  ): Array[(Int, ShufflePartitionSpec)] = {
    val sorted = sizes.sorted
    val median = (sorted((sizes.length - 1) / 2) + sorted(sizes.length / 2)) / 2
    val limit = math.max(
      conf.getConf(SQLConf.SKEW_JOIN_SKEWED_PARTITION_THRESHOLD),
      (median * conf.getConf(SQLConf.SKEW_JOIN_SKEWED_PARTITION_FACTOR)).toLong
    )
    val others = sizes.filter(_ <= limit)
    val target = math.max(
      conf.getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES),
      others.sum / math.max(others.length, 1)
    )
    sizes.zipWithIndex.flatMap { case (size, partition) =>
      val parts =
        if (size <= limit) None
        else ShufflePartitionsUtil.createSkewPartitionSpecs(shuffle, partition, target)
      parts.getOrElse(Seq(CoalescedPartitionSpec(partition, partition + 1))).map(partition -> _)
    }
  }

  /** Partitions of another RDD, some of them repeatedly. */
  private final class PickedPartitions(rows: RDD[InternalRow], picked: Array[Int])
      extends RDD[InternalRow](
        rows.sparkContext,
        Seq(new NarrowDependency[InternalRow](rows) {
          override def getParents(partition: Int): Seq[Int] = Seq(picked(partition))
        })
      ) {
    override protected def getPartitions: Array[Partition] =
      picked.indices.map { i =>
        new PickedPartition(i, firstParent[InternalRow].partitions(picked(i)))
      }.toArray

    override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] =
      firstParent[InternalRow].iterator(split.asInstanceOf[PickedPartition].of, context)
  }

  private final class PickedPartition(override val index: Int, val of: Partition) extends Partition
}
