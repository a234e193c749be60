package thetajoin.stream

import java.util.concurrent.{CompletableFuture, Future => JavaFuture}

import scala.concurrent.Future

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical.Statistics
import org.apache.spark.sql.catalyst.plans.physical.{BroadcastPartitioning, Partitioning}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{
  BroadcastExchangeExec,
  BroadcastExchangeLike,
  Exchange
}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import thetajoin.exec.DriverMetrics
import thetajoin.relation.{ThetaBroadcastMode, ThetaRelation}

/**
 * The broadcast of a streaming join's table. It gives the index that an earlier micro-batch has built, or else builds
 * it and keeps it. Spark's own exchange builds it.
 *
 * @param child the rows. They are not read if the index is there
 * @param found the index that is there
 */
final case class KeptBroadcastExec private[stream] (
    mode: ThetaBroadcastMode,
    child: SparkPlan,
    @transient key: BuildRowsKey,
    @transient found: Option[Broadcast[Any]]
)(@transient private val kept: KeptIndexes)
    extends Exchange
    with BroadcastExchangeLike
    with DriverMetrics {

  @transient private lazy val exchange = BroadcastExchangeExec(mode, child)

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(kept)
  override def nodeName: String = "KeptBroadcast"
  override def stringArgs: Iterator[Any] =
    Iterator(mode, told)

  /** What becomes of the index. */
  def told: String = if (found.isEmpty) "built to be kept" else "kept from an earlier micro-batch"

  override lazy val metrics: Map[String, SQLMetric] = exchange.metrics +
    (KeptBroadcastExec.Builds -> SQLMetrics.createMetric(sparkContext, "number of indexes built"))

  override def outputPartitioning: Partitioning = BroadcastPartitioning(mode)

  override protected def doCanonicalize(): SparkPlan =
    copy(mode = mode.canonicalized, child = child.canonicalized)(kept)

  // ---- Spark's exchange, unless the index is there ----------------------------------------------

  /** Its jobs are cancelled by this name. */
  override def jobTag: String = exchange.jobTag

  override protected def doPrepare(): Unit = if (found.isEmpty) exchange.prepare()

  override def relationFuture: JavaFuture[Broadcast[Any]] =
    found.fold(exchange.relationFuture)(CompletableFuture.completedFuture(_))

  override protected def completionFuture: Future[Broadcast[Any]] =
    found.fold(exchange.submitBroadcastJob())(Future.successful)

  override def runtimeStatistics: Statistics =
    found.map(_.value).collect { case relation: ThetaRelation =>
      Statistics(relation.bytes, Some(BigInt(relation.store.rows)))
    }.getOrElse(exchange.runtimeStatistics)

  override def doExecuteBroadcast[T](): Broadcast[T] = {
    val broadcast = found.getOrElse {
      val built = exchange.executeBroadcast[Any]()
      kept.keep(key, built)
      postMetrics(KeptBroadcastExec.Builds -> 1L)
      built
    }
    broadcast.asInstanceOf[Broadcast[T]]
  }

  override protected def doExecute(): RDD[InternalRow] =
    throw new UnsupportedOperationException(s"$nodeName gives no rows")

  /** The numbers of a broadcast count for all that use it. */
  override def resetMetrics(): Unit = {}

  override protected def withNewChildInternal(newChild: SparkPlan): KeptBroadcastExec =
    copy(child = newChild)(kept)
}

private object KeptBroadcastExec {
  private val Builds = "indexesBuilt"
}
