package org.apache.spark.sql.execution.thetabridge

import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd
import org.apache.spark.status.ElementTrackingStore
import org.apache.spark.util.JsonProtocol
import org.apache.spark.util.kvstore.InMemoryStore
import org.apache.spark.{SparkConf, SparkContext}

import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import thetajoin.driver.JoinMetrics
import thetajoin.report.Counts
import thetajoin.ui.{JoinLine, JoinsEvent}
import thetajoin.{Settings, SharedSession}

/** Events of joins: from the query to the log and the tab. */
class JoinsTabSuite extends AnyFunSuite with SharedSession {
  override protected def settings: Map[String, String] = Map(
    "spark.ui.enabled" -> "true",
    "spark.ui.port" -> "0",
    "spark.ui.showConsoleProgress" -> "false",
    "spark.sql.ui.retainedExecutions" -> "3",
    "spark.redaction.string.regex" -> "secret"
  )

  private def context: SparkContext = spark.sparkContext

  private def shown: Seq[JoinsEvent] = {
    context.listenerBus.waitUntilEmpty()
    JoinsStore.newestFirst(context.statusStore.store)
  }

  private val event = JoinsEvent(
    7,
    Seq(
      JoinLine(
        1,
        "Inner",
        "(a < b)",
        Some("piecewise"),
        Some("BroadcastThetaJoin, BuildRight"),
        None,
        None,
        None,
        Map("few" -> 3L, "many" -> (1L << 40))
      ),
      JoinLine(2, "Cross", "true", None, None, Some("SMALL"), Some("why"), Some("how"), Map.empty)
    )
  )

  private def read(json: String): JoinsEvent =
    JsonProtocol.sparkEventFromJson(json).asInstanceOf[JoinsEvent]

  private def stored(events: SparkListenerEvent*): Seq[JoinsEvent] = {
    val store = new ElementTrackingStore(new InMemoryStore, new SparkConf(false))
    val listener = new JoinsStore(new SparkConf(false), store)
    events.foreach(listener.onOtherEvent)
    JoinsStore.newestFirst(store)
  }

  test("an event is the same when it is read from the log") {
    val again = read(JsonProtocol.sparkEventToJsonString(event))
    assert(again == event)
    // A number that Jackson had made an Integer would fail here.
    assert(again.joins.head.counts("few") + again.joins.head.counts("many") == (1L << 40) + 3)
  }

  test("of events of other versions, those are kept that have all that is shown") {
    val json = JsonProtocol.sparkEventToJsonString(event)
    val newer = read(json.replace("\"number\":1", "\"later\":[1],\"number\":1"))
    val name = classOf[JoinsEvent].getName
    val lacking = Seq(
      s"""{"Event":"$name","executionId":1}""",
      s"""{"Event":"$name","executionId":2,"joins":[{"number":1}]}""",
      s"""{"Event":"$name","executionId":3,"joins":[null]}""",
      json.replace(""""(a < b)"""", "null")
    ).map(read)
    assert(newer == event)
    assert(stored(lacking :+ newer: _*) == Seq(event))
  }

  test(
    "a query that has run is shown with the numbers of its joins, and what Spark ran with a reason"
  ) {
    val pairs = spark.sql("SELECT * FROM range(100) AS a JOIN range(10) AS b ON a.id < b.id")
    assert(pairs.collect().length == 45)
    val line = shown.head.joins.head
    assert(line.accelerator.contains("piecewise"))
    assert(line.node.exists(_.startsWith("BroadcastThetaJoin, Build")))
    assert(line.counts(JoinMetrics.Matches) == 45)
    assert(line.counts(JoinMetrics.CandidateRows) == 45)
    val sides = Seq(JoinMetrics.IndexRows, Counts.ProbeRows).map(line.counts)
    assert(sides.sorted == Seq(10L, 100L))

    spark.sql("SELECT /*+ NO_THETA_JOIN */ * FROM range(9) AS a JOIN range(9) AS b ON a.id < b.id")
      .collect()
    val left = shown.head.joins.head
    assert(left.accelerator.isEmpty && left.remedy.exists(_.nonEmpty))
    assert(left.counts(JoinMetrics.OutputRows) == 36)
  }

  test("what the session hides is hidden") {
    spark.sql("SELECT * FROM range(3) AS a JOIN range(3) AS b ON a.id + b.id <> length('secret')")
      .collect()
    assert(!shown.head.joins.head.condition.contains("secret"))
  }

  test("so many queries are kept as Spark keeps, of sessions that have it switched on") {
    def run(): Unit = {
      spark.sql("SELECT * FROM range(3) AS a JOIN range(3) AS b ON a.id < b.id").collect()
      ()
    }
    (1 to 5).foreach(_ => run())
    // Spark drops old ones in a thread of its own.
    eventually(timeout(Span(30, Seconds)))(assert(shown.size == 3))
    val kept = shown.map(_.executionId)
    assert(kept == kept.sorted.reverse)
    // The setting is read when the query has ended, in a thread of its own.
    withConf(Settings.UiEnabled.key -> "false") {
      run()
      assert(shown.map(_.executionId) == kept)
    }
  }

  test("queries without joins are left out") {
    val before = shown.map(_.executionId)
    spark.range(5).selectExpr("sum(id)").collect()
    assert(shown.map(_.executionId) == before)
  }

  test("what fails to be shown fails no query, and ends no application") {
    for (failure <- Seq(new IllegalStateException, new StackOverflowError, new NoSuchMethodError)) {
      var asked = 0
      val broken = new SparkListener {
        override def onOtherEvent(event: SparkListenerEvent): Unit = {
          asked += 1
          throw failure
        }
      }
      val reporter = new JoinsReporter(Seq(broken))
      context.listenerBus.addToEventLogQueue(reporter)
      try {
        val pairs = spark.sql("SELECT * FROM range(9) AS a JOIN range(9) AS b ON a.id < b.id")
        assert(pairs.collect().length == 36)
        assert(shown.head.joins.head.accelerator.contains("piecewise"))
        assert(asked == 1 && !context.isStopped)
      } finally context.listenerBus.removeListener(reporter)
    }
  }

  test("an event of Spark without a plan, as a log has it, says nothing") {
    val broken = new JoinsReporter(Seq(new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = fail(event.toString)
    }))
    broken.onOtherEvent(SparkListenerSQLExecutionEnd(1, 1))
  }

  test("a second session has the same tab") {
    val tabs = context.ui.get.getTabs.count(_.name == "Theta joins")
    JoinsTab.attach()
    assert(tabs == 1 && context.ui.get.getTabs.count(_.name == "Theta joins") == 1)
  }
}

class JoinsTabOffSuite extends AnyFunSuite with SharedSession {
  override protected def settings: Map[String, String] =
    Map(
      "spark.ui.enabled" -> "true",
      "spark.ui.port" -> "0",
      Settings.UiEnabled.key -> "false"
    )

  test("switched off when the application starts, it is not there") {
    assert(spark.range(3).count() == 3)
    assert(!spark.sparkContext.ui.get.getTabs.exists(_.name == "Theta joins"))
    assert(spark.sparkContext.listenerBus.findListenersByClass[JoinsReporter]().isEmpty)
  }
}
