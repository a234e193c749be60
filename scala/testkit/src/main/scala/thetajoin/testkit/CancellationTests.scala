package thetajoin.testkit

import java.util.concurrent.atomic.AtomicInteger

import scala.util.Try

import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd, SparkListenerTaskStart}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.exchange.BroadcastExchangeLike

import org.scalatest.concurrent.{Eventually, PatienceConfiguration}
import org.scalatest.time.{Seconds, Span}

import thetajoin.exec.ThetaJoinExec

/** A query that is cancelled while it looks for matches gives its cores back. */
private[testkit] trait CancellationTests extends IndexTests with Eventually
    with AdaptiveSparkPlanHelper {
  this: AcceleratorSuite =>

  /**
   * Queries of two tables `a` and `b`, over which look-ups for the first condition take long: the join has to work for
   * some ten seconds. By default all rows are the same, and all match. An accelerator whose look-ups may do much work
   * before they find a candidate gives tables for that.
   */
  def slowLookUps: (String, String) = {
    def complete(table: Table) = table.copy(rows = table.rows.filterNot(_.drop(3).contains("NULL")))
    val (a, b) = LazyList.from(0).take(500).map(drawn(tables, _)).map { case (a, b) =>
      (complete(a), complete(b))
    }.find { case (a, b) =>
      create((a, b))
      Try(
        spark.sql(s"SELECT 1 FROM a JOIN b ON ${conditions.head}").take(1).nonEmpty
      ).getOrElse(false)
    }.getOrElse(fail(s"no drawn rows match: override `values`. $clue"))
    create((a, b))
    val pair = spark.sql(
      s"SELECT a.${Table.Id}, b.${Table.Id} FROM a JOIN b ON ${conditions.head}"
    ).head()
    // A stage that ends at once would be taken for the look-ups, and constants for a condition that is always true.
    def copies(table: Table, id: Int, number: Int) = {
      val row = table.rows.find(_.head == id.toString).get
      val columns = row.zip(table.columns).map { case (text, c) =>
        val value = Values.typed(if (text == "NULL") "0" else text, c.dataType)
        s"IF(id >= 0, $value, NULL) AS ${c.name}"
      }
      s"SELECT ${columns.mkString(", ")} FROM range(0, $number, 1, 2)"
    }
    (copies(a, pair.getInt(0), 60000), copies(b, pair.getInt(1), 600000))
  }

  for (form <- ofJoins.headOption)
    test("a query that is cancelled in the midst of its look-ups ends within seconds") {
      val (a, b) = slowLookUps
      for ((name, query) <- Seq("a" -> a, "b" -> b))
        spark.sql(s"CREATE OR REPLACE TEMP VIEW $name AS $query")
      val side = builtSides.filter(_ == "b" || form == JoinForm.Inner).head
      val hint = s"/*+ BROADCAST($side), THETA_JOIN(${accelerator.id}) */"
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
      assert(
        outcome.nonEmpty || isBuilt(query) && running.forMillis(700),
        query.queryExecution.executedPlan
      )
    }
    assert(outcome.isEmpty, "the query has ended before it was cancelled: override `slowLookUps`")
    val joins = collect(query.queryExecution.executedPlan) { case join: ThetaJoinExec => join }
    assert(joins.map(_.join.accelerator) == Seq(accelerator.id), query.queryExecution.executedPlan)
    context.cancelJobGroup(group)
    eventually(within(5))(assert(running.count == 0, query.queryExecution.executedPlan))
    thread.join(10000)
    assert(outcome.exists(_.isFailure))
  }

  private def within(seconds: Int) = PatienceConfiguration.Timeout(Span(seconds.toLong, Seconds))

  private def isBuilt(query: DataFrame): Boolean = {
    val exchanges = collect(query.queryExecution.executedPlan) { case e: BroadcastExchangeLike =>
      e
    }
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
