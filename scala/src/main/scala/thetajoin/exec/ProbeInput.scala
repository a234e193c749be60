package thetajoin.exec

import org.apache.spark.Partitioner
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.thetabridge.RowSerializers
import org.apache.spark.sql.types.DataType

/**
 * Spreads probe rows over partitions. The work of a join is pairs, not rows: a file of 30,000 rows is one
 * partition, yet meeting 30,000 others is work for every core. Rows go where the hash of their bytes says, which a
 * retried task repeats whatever the order in which it reads its own input.
 */
private[exec] object ProbeInput {

  def spread(probe: RDD[InternalRow], types: Seq[DataType], partitions: Int): RDD[InternalRow] = {
    val keyed = probe.mapPartitions { rows =>
      val toUnsafe = UnsafeProjection.create(types.toArray)
      rows.map { row =>
        val unsafe = row match {
          case u: UnsafeRow => u
          case other => toUnsafe(other)
        }
        (Math.floorMod(unsafe.hashCode, partitions), unsafe)
      }
    }
    val shuffled =
      new ShuffledRDD[Int, UnsafeRow, UnsafeRow](keyed, new PartitionNumber(partitions))
    shuffled.setSerializer(RowSerializers.unsafeRows(types.size))
    shuffled.mapPartitions(_.map { case (_, row) => row: InternalRow })
  }
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
