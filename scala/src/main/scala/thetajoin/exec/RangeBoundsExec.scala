package thetajoin.exec

import java.util.SplittableRandom

import scala.util.control.NonFatal

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSet,
  BindReferences,
  Expression,
  GenericInternalRow,
  UnsafeArrayData,
  UnsafeProjection
}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan}

import thetajoin.Yardsticks
import thetajoin.large.{Quantiles, RangeBounds, Sampled, SharedBounds}

/** Samples both sides for a [[RangeBounds]], in jobs that run when this does, unless a copy of it has. */
final case class RangeBoundsExec(
    left: SparkPlan,
    right: SparkPlan,
    leftValues: Seq[Expression],
    rightValues: Seq[Expression],
    bounds: Attribute,
    shared: SharedBounds
) extends BinaryExecNode {
  import RangeBoundsExec._

  override def nodeName: String = "RangeBounds"
  override protected def stringArgs: Iterator[Any] = Iterator(leftValues, rightValues, bounds)
  override def output: Seq[Attribute] = Seq(bounds)
  override def producedAttributes: AttributeSet = AttributeSet(bounds)

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): RangeBoundsExec = copy(left = newLeft, right = newRight)

  override lazy val metrics: Map[String, SQLMetric] =
    Map(Bounds -> SQLMetrics.createMetric(sparkContext, "number of bounds"))

  override protected def doExecute(): RDD[InternalRow] = {
    val found =
      shared.of(new Quantiles(sampled(left, leftValues), sampled(right, rightValues)))
    longMetric(Bounds).set(found.length)
    val row = new GenericInternalRow(Array[Any](UnsafeArrayData.fromPrimitiveArray(found)))
    val unsafe: InternalRow = UnsafeProjection.create(Array(bounds.dataType)).apply(row).copy()
    sparkContext.parallelize(Seq(unsafe), numSlices = 1)
  }

  private def sampled(side: SparkPlan, values: Seq[Expression]): Sampled = {
    val rows = side.execute()
    val bound = BindReferences.bindReferences(values, side.output)
    // Partitions may be of unlike sizes, and rows of each have a weight of their own.
    val size = math.max(
      shared.most * Yardsticks.SampledRowsPerRange() / math.max(rows.getNumPartitions, 1),
      Yardsticks.LeastSampledRows()
    )
    val samples = rows.mapPartitions(part => Iterator(sample(part, bound, size))).collect()
    new Sampled(
      samples.flatMap(_._1),
      values.size,
      samples.flatMap { case (sampled, seen) =>
        val count = sampled.length / values.size
        Array.fill(count)(seen.toDouble / count)
      }
    )
  }
}

object RangeBoundsExec {

  def apply(node: RangeBounds, left: SparkPlan, right: SparkPlan): RangeBoundsExec =
    RangeBoundsExec(left, right, node.leftValues, node.rightValues, node.bounds, node.shared)

  private val Bounds = "bounds"

  /**
   * The values of up to `size` of the rows, and how many rows were seen. Values that are null or can't be computed
   * are left out.
   */
  private def sample(
      rows: Iterator[InternalRow],
      values: Seq[Expression],
      size: Int
  ): (Array[Long], Long) = {
    val project = UnsafeProjection.create(values)
    val random = new SplittableRandom(TaskContext.getPartitionId())
    val width = values.size
    val kept = new Array[Long](size * width)
    var (count, seen) = (0, 0L)
    for (row <- rows) {
      seen += 1
      val place = if (count < size) count else (random.nextDouble() * seen).toLong
      if (place < size) {
        val found =
          try project(row)
          catch { case NonFatal(_) => null }
        if (found != null && !found.anyNull) {
          var i = 0
          while (i < width) {
            kept(place.toInt * width + i) = found.getLong(i)
            i += 1
          }
          if (place == count) count += 1
        }
      }
    }
    (kept.take(count * width), seen)
  }
}
