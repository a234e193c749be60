package org.apache.spark.sql.execution.thetabridge

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.SparkConf
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent, SparkListenerInterface}
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd
import org.apache.spark.status.{ElementTrackingStore, KVUtils}
import org.apache.spark.util.Utils
import org.apache.spark.util.kvstore.KVStore

import thetajoin.Settings
import thetajoin.ui.JoinsEvent

/** Tells of the joins of each query that has ended. Spark shows the plan of such a query to its own package only. */
private final class JoinsReporter(told: Seq[SparkListenerInterface]) extends SparkListener
    with Logging {
  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case end: SparkListenerSQLExecutionEnd if end.qe != null =>
      try joins(end.executionId, end.qe).foreach(joins => told.foreach(_.onOtherEvent(joins)))
      catch {
        // Spark would stop the application for an error that it takes for fatal.
        case e @ (NonFatal(_) | _: StackOverflowError | _: LinkageError) =>
          logWarning(s"thetajoin: the joins of query ${end.executionId} are not shown", e)
      }
    case _ =>
  }

  private def joins(id: Long, query: QueryExecution): Option[JoinsEvent] = {
    val conf = query.sparkSession.sessionState.conf
    // A query that could not be planned has none.
    val plan = Try(query.executedPlan).toOption.filter(_ => Settings.UiEnabled.in(conf))
    plan.flatMap { plan =>
      query.sparkSession.withActive {
        JoinsEvent.of(id, plan, Utils.redact(conf.stringRedactionPattern, _))
      }
    }
  }
}

/** Keeps the joins of as many queries as Spark keeps queries for its SQL tab. */
private final class JoinsStore(conf: SparkConf, store: ElementTrackingStore) extends SparkListener {
  private val most = conf.getInt("spark.sql.ui.retainedExecutions", 1000)

  store.addTrigger(classOf[JoinsEvent], most.toLong) { count =>
    KVUtils
      .viewToSeq(store.view(classOf[JoinsEvent]))
      .take((count - most).toInt)
      .foreach(event => store.delete(classOf[JoinsEvent], event.executionId))
  }

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case event: JoinsEvent if JoinsStore.isWhole(event) => store.write(event, checkTriggers = true)
    case _ =>
  }
}

private object JoinsStore {

  /** The log may be of another version, with fields that this one doesn't know. */
  private def isWhole(event: JoinsEvent): Boolean =
    event.joins != null && event.joins.forall { line =>
      line != null && line.counts != null && !line.words.contains(null)
    }

  def newestFirst(store: KVStore): Seq[JoinsEvent] =
    KVUtils.viewToSeq(store.view(classOf[JoinsEvent]).reverse())
}
