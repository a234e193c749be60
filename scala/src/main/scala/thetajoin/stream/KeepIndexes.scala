package thetajoin.stream

import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec

import thetajoin.exec.{BroadcastThetaJoinExec, BuildRows}
import thetajoin.relation.ThetaBroadcastMode

/**
 * In the plan of a micro-batch, has the joins of the stream's rows keep their indexes for the next one. If an index
 * is there already, nothing below its broadcast runs. It is built anew if the plan of the table, its files or the
 * settings are not the same as before, and for each micro-batch if that can't be told.
 */
object KeepIndexes extends Rule[SparkPlan] with Logging {
  override def apply(plan: SparkPlan): SparkPlan = {
    val exchanges = plan.collect {
      case join: BroadcastThetaJoinExec if join.logicalLink.exists(_.isStreaming) => join.build
    }.collect { case exchange @ BroadcastExchangeExec(_: ThetaBroadcastMode, _) => exchange }
    lazy val nodes = keeping(exchanges, plan.session.sparkContext)
    if (exchanges.isEmpty) plan
    else
      plan.transform { case exchange: BroadcastExchangeExec =>
        nodes.collectFirst { case (old, node) if old eq exchange => node }.getOrElse(exchange)
      }
  }

  /** The nodes that take the places of broadcasts, where they can. */
  private def keeping(
      exchanges: Seq[BroadcastExchangeExec],
      context: SparkContext
  ): Seq[(BroadcastExchangeExec, SparkPlan)] =
    running(context).toSeq.flatMap { case (query, batch) =>
      val keyed = exchanges.flatMap(exchange => key(exchange).map(exchange -> _))
      val kept = KeptIndexes.of(query, context)
      keyed.zip(kept.found(batch, keyed.map { case (_, key) => key })).map {
        case ((exchange, key), found) =>
          val rows = BuildRows(exchange).children.head
          val mode = exchange.mode.asInstanceOf[ThetaBroadcastMode]
          val child = if (found.isEmpty) rows else UnreadRowsExec.insteadOf(rows)
          exchange -> KeptBroadcastExec(mode, child, key, found)(kept)
      }
    }

  /** The streaming query and its micro-batch that this thread runs. */
  private def running(context: SparkContext): Option[(String, String)] =
    Option(context.getLocalProperty("sql.streaming.queryId"))
      .zip(Option(context.getLocalProperty("streaming.sql.batchId")))

  private def key(exchange: BroadcastExchangeExec): Option[BuildRowsKey] =
    try BuildRowsKey.of(exchange.mode.asInstanceOf[ThetaBroadcastMode], exchange.child)
    catch {
      case NonFatal(e) =>
        logWarning("thetajoin: the index of a streaming join is not kept", e)
        None
    }
}
