package thetajoin

import scala.collection.mutable
import scala.util.Try

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.{DataFrame, Row}

import org.scalatest.{BeforeAndAfterAll, Suite}

import thetajoin.exec.{BroadcastThetaJoinExec, ThetaJoinExec}

/** A local session with the extension, and checks against the same session without it. */
trait SharedSession extends BeforeAndAfterAll with AdaptiveSparkPlanHelper { this: Suite =>
  protected def settings: Map[String, String] = Map.empty
  protected lazy val spark: SparkSession = {
    val builder = SparkSession
      .builder()
      .master("local[2]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "2")
      .config("spark.sql.codegen.fallback", "false")
      .config("spark.thetajoin.equiKeys.minBuildRows", "0")
      .config("spark.sql.extensions", classOf[ThetaJoinExtensions].getName)
    settings.foldLeft(builder) { case (b, (k, v)) => b.config(k, v) }.getOrCreate()
  }

  override protected def afterAll(): Unit =
    try spark.stop()
    finally super.afterAll()

  /** With another value of one of [[Yardsticks]]. */
  protected def withYardstick[A](name: String, value: Long)(body: => A): A = {
    Yardsticks.set(name, value)
    try body
    finally Yardsticks.reset(name)
  }

  protected def withConf[A](pairs: (String, String)*)(body: => A): A = {
    val before = pairs.map { case (k, _) => k -> spark.conf.getOption(k) }
    pairs.foreach { case (k, v) => spark.conf.set(k, v) }
    try body
    finally before.foreach {
        case (k, Some(v)) => spark.conf.set(k, v)
        case (k, None) => spark.conf.unset(k)
      }
  }

  /** With generated code and without, adaptive and not; the body is told whether code is generated. */
  protected def onEveryPath(body: Boolean => Unit): Unit =
    for (codegen <- Seq(true, false); adaptive <- Seq(true, false))
      withConf(
        "spark.sql.codegen.wholeStage" -> codegen.toString,
        "spark.sql.adaptive.enabled" -> adaptive.toString
      )(body(codegen))

  /** The executed plan, after running the query. */
  protected def executed(query: DataFrame): SparkPlan = {
    query.collect()
    query.queryExecution.executedPlan
  }

  /** How many rows a query gives to a thread that has no session. */
  protected def countWithoutSession(query: DataFrame): Long = {
    var counted = Try(0L)
    val thread = new Thread(() => {
      SparkSession.clearActiveSession()
      counted = Try(query.queryExecution.toRdd.count())
    })
    thread.start()
    thread.join()
    counted.get
  }

  protected def thetaJoins(plan: SparkPlan): Seq[ThetaJoinExec] =
    collectWithSubqueries(plan) { case j: ThetaJoinExec => j }

  protected def broadcastJoins(plan: SparkPlan): Seq[BroadcastThetaJoinExec] =
    thetaJoins(plan).collect { case j: BroadcastThetaJoinExec => j }

  /** The same bag of rows with the extension on and off; the executed plan, for these accelerators. */
  protected def assertSame(sql: String, accelerators: String*): SparkPlan = {
    val expected = withConf(Settings.Enabled.key -> "false")(rows(spark.sql(sql)))
    val plan = assertRows(sql, expected)
    assert(thetaJoins(plan).map(_.join.accelerator) == accelerators)
    plan
  }

  /** The same bag of rows as [[usualRows]]; the executed plan. */
  protected def assertSameRows(sql: String): SparkPlan = assertRows(sql, usualRows(sql))

  protected def assertSomeRows(sql: String): SparkPlan = {
    assert(usualRows(sql).nonEmpty, sql)
    assertSameRows(sql)
  }

  private def assertRows(sql: String, expected: Seq[String]): SparkPlan = {
    val query = spark.sql(sql)
    assert(rows(query) == expected, sql)
    query.queryExecution.executedPlan
  }

  private def rows(query: DataFrame): Seq[String] =
    query.collect().map((row: Row) => row.toString).sorted.toSeq

  /** As Spark alone gives them in its usual way; asked once for each query, of views that stay the same. */
  private def usualRows(sql: String): Seq[String] = {
    val usual = Map(
      Settings.Enabled.key -> "false",
      "spark.sql.codegen.wholeStage" -> "true",
      "spark.sql.adaptive.enabled" -> "true"
    )
    known.getOrElseUpdate(
      (sql, spark.conf.get("spark.sql.ansi.enabled")),
      withConf(usual.toSeq: _*)(rows(spark.sql(sql)))
    )
  }

  private val known = mutable.Map.empty[(String, String), Seq[String]]
}
