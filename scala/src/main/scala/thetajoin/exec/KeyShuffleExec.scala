package thetajoin.exec

import scala.reflect.ClassTag

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  BoundReference,
  Expression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import thetajoin.relation.ThetaBroadcastMode
import thetajoin.rowstore.RowPages

/**
 * The keys of a build side, each once from each task, in a shuffle by key: their size is known before they go anywhere.
 * Its parent asks for them by [[keys]]; it gives no rows.
 *
 * @param mode what the keys are, by the names of the child's columns
 * @param partitions of the shuffle, if there are not more cores
 */
final case class KeyShuffleExec(mode: ThetaBroadcastMode, partitions: Int, child: SparkPlan)
    extends UnaryExecNode {
  override def nodeName: String = "KeyShuffle"
  override def output: Seq[Attribute] = child.output

  override protected def stringArgs: Iterator[Any] = Iterator(mode.keys, partitions)

  override lazy val metrics: Map[String, SQLMetric] = Map(
    KeyShuffleExec.DataSize -> SQLMetrics.createSizeMetric(sparkContext, "data size"),
    KeyShuffleExec.Keys -> SQLMetrics.createMetric(sparkContext, "number of keys")
  )

  override protected def doExecute(): RDD[InternalRow] =
    throw new IllegalStateException(s"$nodeName gives keys, not rows")

  /** The keys, all written when this returns. */
  def keys: ShuffledKeys = written

  @transient private lazy val written: ShuffledKeys = {
    val ofChild = mode.boundTo(child.output)
    val (expressions, size, count) =
      (ofChild.keys, longMetric(KeyShuffleExec.DataSize), longMetric(KeyShuffleExec.Keys))
    val keyRows = child.execute().mapPartitions { rows =>
      val project = UnsafeProjection.create(expressions)
      rows.map(project(_)).filterNot(_.anyNull).map { key =>
        size += key.getSizeInBytes
        count += 1
        key: InternalRow
      }
    }
    val cores = math.min(sparkContext.defaultParallelism, conf.numShufflePartitions)
    val shuffle = RowShuffle.write(
      keyRows,
      expressions.map(_.dataType),
      math.max(partitions, cores)
    )(() => key => key.hashCode)
    RowShuffle.run(RowShuffle.dependency(shuffle))
    new ShuffledKeys(RowShuffle.rowsOf(shuffle), keyRows.getNumPartitions, size.value, ofChild)
  }

  override protected def doCanonicalize(): SparkPlan =
    super.doCanonicalize().asInstanceOf[KeyShuffleExec].copy(mode = mode.boundTo(child.output))

  override protected def withNewChildInternal(newChild: SparkPlan): KeyShuffleExec =
    copy(child = newChild)
}

private object KeyShuffleExec {
  val DataSize = "dataSize"
  val Keys = "numKeys"
}

/**
 * @param rows keys; equal ones are in the same partition
 * @param tasks how many tasks gave them
 * @param bytes what all of them take, those counted twice that came from two tasks
 */
private[exec] final class ShuffledKeys(
    val rows: RDD[InternalRow],
    tasks: Int,
    bytes: Long,
    mode: ThetaBroadcastMode
) {
  private val types = mode.keys.map(_.dataType)

  /** Makes a relation of key rows. */
  val ofKeys: ThetaBroadcastMode = {
    val keys: Seq[Expression] = types.zipWithIndex.map { case (t, i) =>
      BoundReference(i, t, nullable = false)
    }
    mode.copy(keys = keys)(mode.condition)
  }

  /** Whether the distinct keys take no more than so many bytes. They are counted only if that can make a difference. */
  def fit(limit: Long): Boolean =
    bytes <= limit || bytes / math.max(tasks, 1) <= limit &&
      distinct(_.map(_.getSizeInBytes.toLong).sum).collect().sum <= limit

  /** The same keys in as many partitions as keep each below `limit` bytes. */
  def inPartitionsOf(limit: Long): RDD[InternalRow] = {
    val needed = bytes / limit
    if (needed < rows.getNumPartitions) rows
    else {
      val partitions = math.min(needed + 1, ShuffledKeys.MaxPartitions).toInt
      RowShuffle.rowsOf(RowShuffle.write(rows, types, partitions)(() => key => key.hashCode))
    }
  }

  /** Each partition's keys without repetition, made into one value. */
  private def distinct[A: ClassTag](make: Iterator[UnsafeRow] => A): RDD[A] = {
    val (spec, keyTypes) = (mode.spec, types)
    rows.mapPartitions { keys =>
      val seen = spec.newSeenKeys(keyTypes)
      Iterator.single(make(keys.map(_.asInstanceOf[UnsafeRow]).filter(seen.isNew)))
    }
  }

  /** All keys, in the driver. */
  def collect(): Iterator[InternalRow] = {
    val keyTypes = types
    distinct(RowPages.of(_, keyTypes)).collect().iterator.flatMap { pages =>
      val cursor = pages.newCursor()
      Iterator.range(0, pages.rows).map(cursor.at)
    }
  }
}

private object ShuffledKeys {
  val MaxPartitions: Long = 1L << 16
}
