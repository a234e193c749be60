package thetajoin.testkit

import java.util.concurrent.atomic.AtomicInteger

import scala.util.Try

import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd, SparkListenerTaskStart}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.exchange.BroadcastExchangeLike

import org.scalatest.concurrent.Eventually
import org.scalatest.concurrent.PatienceConfiguration
import org.scalatest.time.{Seconds, Span}

/** A query that is cancelled while it looks for matches gives its cores back. */
private[testkit] trait CancellationTests extends IndexTests with Eventually with AdaptiveSparkPlanHelper {
  this: AcceleratorSuite =>

  /**
   * Queries of two tables `a` and `b`, over which look-ups for the first condition take long: the join has to work for
   * some ten seconds. By default all rows are the same, and all match. An accelerator whose look-ups may do much work
   * before they find a candidate gives tables for that.
   */
  def slowLookUps: (String, String) = {
    val (a, b) = LazyList.from(0).take(500).map(drawn(tables, _)).find { case (a, b) =>
      Seq(a, b).foreach(table => spark.sql(table.sql))
      Try(spark.sql(s"SELECT 1 FROM a JOIN b ON ${conditions.head}").take(1).nonEmpty).getOrElse(false)
    }.getOrElse(fail(s"no drawn rows match: override `values`. $clue"))
    Seq(a, b).foreach(table => spark.sql(table.sql))
    val pair = spark.sql(
      s"SELECT a.${Table.Id}, b.${Table.Id} FROM a JOIN b ON ${conditions.head}"
    ).head()
    def copies(table: Table, id: Int, number: Int) = {
      val one = table.copy(name = s"one_${table.name}", rows = table.rows.filter(_.head == id.toString))
      spark.sql(one.sql)
      s"SELECT /*+ REPARTITION(2) */ ${one.name}.* FROM ${one.name} LATERAL VIEW explode(sequence(1, $number)) c AS copy"
    }
    (copies(a, pair.getInt(0), 60000), copies(b, pair.getInt(1), 600000))
  }

  for (form <- ofJoins.headOption) test("a query that is cancelled in the midst of its look-ups ends within seconds") {
    val (a, b) = slowLookUps
    for ((name, query) <- Seq("a" -> a, "b" -> b)) spark.sql(s"CREATE OR REPLACE TEMP VIEW $name AS $query")
    val hint = s"/*+ BROADCAST(${if (form == JoinForm.Inner) "a" else "b"}), THETA_JOIN(${accelerator.id}) */"
    val never = s"(a.${Table.Rest} + b.${Table.Rest}) % 3 = 7"
    val query = spark.sql(form.query(hint, s"(${conditions.head}) AND $never"))
    val running = new RunningTasks
    spark.sparkContext.addSparkListener(running)
    try assertFreed(query, running)
    finally spark.sparkContext.removeSparkListener(running)
  }

  private def assertFreed(query: DataFrame, running: RunningTasks): Unit = {
    val context = spark.sparkContext
    val group = "thetajoin-testkit"
    @volatile var outcome: Option[Try[Unit]] = None
    val thread = new Thread(() => {
      context.setJobGroup(group, group, interruptOnCancel = false)
      outcome = Some(Try(query.queryExecution.toRdd.foreach(_ => ())))
    })
    thread.start()
    eventually(within(60)) {
      assert(outcome.nonEmpty || isBuilt(query) && running.forMillis(700), query.queryExecution.executedPlan)
    }
    assert(outcome.isEmpty, "the query has ended before it was cancelled: override `slowLookUps`")
    context.cancelJobGroup(group)
    eventually(within(5))(assert(running.count == 0, query.queryExecution.executedPlan))
    thread.join(10000)
    assert(outcome.exists(_.isFailure))
  }

  private def within(seconds: Int) = PatienceConfiguration.Timeout(Span(seconds.toLong, Seconds))

  private def isBuilt(query: DataFrame): Boolean = {
    val exchanges = collect(query.queryExecution.executedPlan) { case e: BroadcastExchangeLike => e }
    exchanges.nonEmpty && exchanges.forall(_.relationFuture.isDone)
  }
}

/** How many tasks run, and for how long. */
private[testkit] final class RunningTasks extends SparkListener {
  private val running = new AtomicInteger
  @volatile private var lastStart = 0L

  def count: Int = running.get

  def forMillis(least: Long): Boolean =
    count > 0 && System.nanoTime() - lastStart > least * 1000000L

  override def onTaskStart(start: SparkListenerTaskStart): Unit = {
    lastStart = System.nanoTime()
    running.incrementAndGet(): Unit
  }

  override def onTaskEnd(end: SparkListenerTaskEnd): Unit = running.decrementAndGet(): Unit
}
