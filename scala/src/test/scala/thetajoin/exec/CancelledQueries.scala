package thetajoin.exec

import java.nio.file.Files
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Try

import org.apache.spark.scheduler._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.adaptive.BroadcastQueryStageExec
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec

import org.scalatest.Suite
import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}

import thetajoin.SharedSession

/** Queries over two files that are cancelled while they run: `a` has 60,000 rows, and `b` two million. */
trait CancelledQueries extends SharedSession with Eventually { this: Suite =>
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(60, Seconds), Span(20, Millis))

  private val running = new AtomicInteger
  @volatile private var lastStart = 0L

  override protected def settings: Map[String, String] =
    Map("spark.sql.parquet.columnarReaderBatchSize" -> "100000")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.sparkContext.addSparkListener(new SparkListener {
      override def onTaskStart(start: SparkListenerTaskStart): Unit = {
        lastStart = System.nanoTime()
        running.incrementAndGet()
        ()
      }
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit = {
        running.decrementAndGet()
        ()
      }
    })
    // Spark itself asks ahead of each batch of a file, of which one of these holds all rows.
    val folder = Files.createTempDirectory("thetajoin").toString
    for ((side, rows) <- Seq("a" -> 60000, "b" -> 2000000)) {
      spark.range(0, rows, 1, 2)
        .selectExpr("id", "id * 7 AS v", "id - id AS k", "id - 2000000 AS lo", "id + 2000000 AS hi")
        .write.parquet(s"$folder/$side")
      spark.read.parquet(s"$folder/$side").createOrReplaceTempView(side)
    }
  }

  /**
   * Starts a query, cancels it once it is at work, and asserts that no task is left soon.
   *
   * @param interrupts whether the threads of the tasks are interrupted
   */
  protected def assertFreed(query: DataFrame, node: String, interrupts: Boolean = false): Unit = {
    val context = spark.sparkContext
    val group = "cancelled"
    var outcome: Try[Unit] = null
    val thread = new Thread(() => {
      context.setJobGroup(group, group, interrupts)
      outcome = Try(query.queryExecution.toRdd.foreach(_ => ()))
    })
    thread.start()
    // Tasks of the stages ahead of the one that takes long end sooner, unless they are those of what is built.
    eventually {
      assert(isBuilt(query), query.queryExecution.executedPlan)
      assert(running.get > 0 && System.nanoTime() - lastStart > 700000000L)
      assert(nodes(query)(node), query.queryExecution.executedPlan)
    }
    assert(thread.isAlive, s"it has ended: $outcome")
    context.cancelJobGroup(group)
    val patience = PatienceConfig(Span(5, Seconds), Span(20, Millis))
    eventually(assert(running.get == 0, query.queryExecution.executedPlan))(
      patience,
      implicitly,
      implicitly
    )
    thread.join(10000)
    assert(outcome.isFailure)
  }

  private def isBuilt(query: DataFrame): Boolean = {
    val plan = query.queryExecution.executedPlan
    val built = collect(plan) { case stage: BroadcastQueryStageExec => stage.isMaterialized }
    built.forall(identity) && built.size == collect(plan) { case e: BroadcastExchangeExec =>
      e
    }.size
  }

  private def nodes(query: DataFrame): Set[String] =
    collect(query.queryExecution.executedPlan) { case node => node.nodeName }.toSet
}
