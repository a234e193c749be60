package thetajoin.exec

import scala.concurrent.Await
import scala.concurrent.duration.Duration

import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLShuffleReadMetricsReporter
import org.apache.spark.sql.execution.thetabridge.Shuffles
import org.apache.spark.sql.execution.{ShufflePartitionSpec, ShuffledRowRDD}
import org.apache.spark.sql.types.DataType
import org.apache.spark.{InterruptibleIterator, Partitioner, ShuffleDependency, TaskContext}

/** Moves rows to partitions that a join chooses. */
private[exec] object RowShuffle {
  type Written = ShuffledRDD[Int, UnsafeRow, UnsafeRow]

  /**
   * Moves rows to other partitions. The work of a join is pairs, not rows: a file of 30,000 rows is one partition,
   * yet meeting 30,000 others is work for every core. Rows go where the hash of their bytes says. A retried task
   * repeats that, whatever the order in which it reads its own input.
   */
  def repartitioned(
      rows: RDD[InternalRow],
      types: Seq[DataType],
      partitions: Int
  ): RDD[InternalRow] =
    rowsOf(write(rows, types, partitions)(() => row => row.hashCode))

  /**
   * @param hashes makes a function in each task that gives a number by which a row's partition is chosen
   * @return the shuffle; [[rowsOf]] reads it
   */
  def write(rows: RDD[InternalRow], types: Seq[DataType], partitions: Int)(
      hashes: () => UnsafeRow => Int
  ): Written = {
    val numbered = rows.mapPartitions { input =>
      val (toUnsafe, hash) = (UnsafeProjection.create(types.toArray), hashes())
      val copies = !Shuffles.writeRowsAtOnce()
      // The code that Spark generates for a range does not ask while each of its rows ends the loop.
      new InterruptibleIterator(TaskContext.get(), input).map { row =>
        val unsafe = row match {
          case u: UnsafeRow => u
          case other => toUnsafe(other)
        }
        (Math.floorMod(hash(unsafe), partitions), if (copies) unsafe.copy() else unsafe)
      }
    }
    new ShuffledRDD[Int, UnsafeRow, UnsafeRow](numbered, new PartitionNumber(partitions))
      .setSerializer(Shuffles.rowSerializer(types.size))
  }

  /** Has it written, and says how many bytes each partition takes; nothing if no task writes any. */
  def run(written: ShuffleDependency[Int, InternalRow, InternalRow]): Option[Array[Long]] =
    if (written.rdd.getNumPartitions == 0) None
    else {
      val job = Shuffles.write(written.rdd.sparkContext, written)
      try Some(Await.result(job, Duration.Inf).bytesByPartitionId)
      catch {
        case e: InterruptedException =>
          job.cancel()
          throw e
      }
    }

  /** The rows that each task reads of it. */
  def read(
      written: ShuffleDependency[Int, InternalRow, InternalRow],
      parts: Array[ShufflePartitionSpec]
  ): RDD[InternalRow] = {
    val metrics = SQLShuffleReadMetricsReporter.createShuffleReadMetrics(written.rdd.sparkContext)
    new ShuffledRowRDD(written, metrics, parts)
  }

  /** As a reader of rows sees it. */
  def dependency(shuffle: Written): ShuffleDependency[Int, InternalRow, InternalRow] =
    shuffle.dependencies.head.asInstanceOf[ShuffleDependency[Int, InternalRow, InternalRow]]

  /** The same row object each time. */
  def rowsOf(shuffle: RDD[(Int, UnsafeRow)]): RDD[InternalRow] =
    shuffle.mapPartitions(_.map { case (_, row) => row: InternalRow })
}

/** The key is the partition. */
private[exec] final class PartitionNumber(override val numPartitions: Int) extends Partitioner {
  override def getPartition(key: Any): Int = key.asInstanceOf[Int]
  override def equals(other: Any): Boolean = other match {
    case p: PartitionNumber => p.numPartitions == numPartitions
    case _ => false
  }
  override def hashCode: Int = numPartitions
}
