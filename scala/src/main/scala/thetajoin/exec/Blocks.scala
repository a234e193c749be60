package thetajoin.exec

import org.apache.spark.ShuffleDependency
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{
  AQEShuffleReadExec,
  ShufflePartitionsUtil,
  ShuffleQueryStageExec
}
import org.apache.spark.sql.execution.exchange.{ReusedExchangeExec, ShuffleExchangeExec}

/** The rows that the sides of a block join write, and the blocks that they are cut into. */
private[exec] object Blocks {
  val Weight: Long = 1L << 30

  /**
   * Rows in a shuffle.
   *
   * @param known the bytes of each partition, if all are written
   */
  final class Written(
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
      Blocks.blocks(sizes, most, least)(partsOf)

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
  final case class Exchanged(
      exchange: ShuffleExchangeExec,
      written: Option[Array[Long]] = None
  ) {
    def partitioning: Partitioning = exchange.outputPartitioning
  }

  /** The shuffle that a side is read from, if it is one. */
  def exchanged(side: SparkPlan): Option[Exchanged] = side match {
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

  def whole(partition: Int): Seq[CoalescedPartitionSpec] =
    Seq(CoalescedPartitionSpec(partition, partition + 1))

  /** All rows of the partitions that a block has rows of. */
  def whole(block: ShufflePartitionSpec): CoalescedPartitionSpec = block match {
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
