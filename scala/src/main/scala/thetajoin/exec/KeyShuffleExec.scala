package thetajoin.exec

import scala.concurrent.Await
import scala.concurrent.duration.Duration

import org.apache.spark.ShuffleDependency
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
import org.apache.spark.sql.execution.thetabridge.Shuffles

import thetajoin.accelerator.SeenKeys
import thetajoin.rowstore.{RowPages, ThetaRelation}

/**
 * The keys of a build side, each once from each task, in a shuffle by key: their size is known before they go anywhere.
 * Its parent asks for them by [[keys]]; it gives no rows.
 *
 * @param mode what the keys are, bound to the child's output
 * @param partitions of the shuffle
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
    val (expressions, size, count) =
      (mode.keys, longMetric(KeyShuffleExec.DataSize), longMetric(KeyShuffleExec.Keys))
    val keyRows = child.execute().mapPartitions { rows =>
      val project = UnsafeProjection.create(expressions)
      rows.map(project(_)).filterNot(_.anyNull).map { key =>
        size += key.getSizeInBytes
        count += 1
        key: InternalRow
      }
    }
    val shuffle =
      RowShuffle.write(keyRows, expressions.map(_.dataType), partitions)(() => key => key.hashCode)
    val dependency = shuffle.dependencies.head.asInstanceOf[ShuffleDependency[_, _, _]]
    Await.result(Shuffles.write(sparkContext, dependency), Duration.Inf)
    new ShuffledKeys(RowShuffle.rowsOf(shuffle), size.value, mode)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): KeyShuffleExec =
    copy(child = newChild)
}

private object KeyShuffleExec {
  val DataSize = "dataSize"
  val Keys = "numKeys"
}

/**
 * @param rows keys; equal ones are in the same partition
 * @param bytes what all of them take, those counted twice that came from two tasks
 */
private[exec] final class ShuffledKeys(
    val rows: RDD[InternalRow],
    val bytes: Long,
    mode: ThetaBroadcastMode
) {
  private val types = mode.keys.map(_.dataType)

  /** Makes a relation of key rows. */
  val build: Iterator[InternalRow] => ThetaRelation = {
    val keys: Seq[Expression] = types.zipWithIndex.map { case (t, i) =>
      BoundReference(i, t, nullable = false)
    }
    val ofKeys = mode.copy(keys = keys)
    rows => ofKeys.relation(rows)
  }

  /** All keys, in the driver. */
  def collect(): Iterator[InternalRow] = {
    val (spec, keyTypes) = (mode.spec, types)
    val distinct: RDD[RowPages] = rows
      .mapPartitions { keys =>
        val seen: SeenKeys = spec.newSeenKeys(keyTypes)
        Iterator.single(RowPages.of(
          keys.filter(key => seen.isNew(key.asInstanceOf[UnsafeRow])),
          keyTypes
        ))
      }
    distinct.collect().iterator.flatMap { pages =>
      val cursor = pages.newCursor()
      Iterator.range(0, pages.rows).map(cursor.at)
    }
  }
}
