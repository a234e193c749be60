package org.apache.spark.joinsuites

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.util.QueryExecutionListener

/** Counts joins of ours in the plans that were executed; Spark creates one for each session. */
final class JoinCounter extends QueryExecutionListener with AdaptiveSparkPlanHelper {
  override def onSuccess(action: String, query: QueryExecution, nanos: Long): Unit = {
    val joins = collectWithSubqueries(query.executedPlan) {
      case node if node.nodeName.endsWith("ThetaJoin") => node
    }
    JoinCounter.joins.addAndGet(joins.size)
  }

  override def onFailure(action: String, query: QueryExecution, exception: Exception): Unit = ()
}

object JoinCounter {
  private val joins = new AtomicInteger

  /** The joins of ours since the last call. */
  def take(): Int = {
    SparkContext.getActive.foreach(_.listenerBus.waitUntilEmpty())
    joins.getAndSet(0)
  }
}
