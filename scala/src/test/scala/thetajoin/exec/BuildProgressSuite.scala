package thetajoin.exec

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import thetajoin.SharedSession

/** What Spark's pages tell of an index that is built in the driver. */
class BuildProgressSuite extends AnyFunSuite with SharedSession with Eventually {
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(Span(10, Seconds))

  private val query =
    "SELECT /*+ BROADCAST(b) */ count(*) FROM range(9) a JOIN range(12300) b ON a.id > b.id"

  /** The descriptions of the jobs that run meanwhile. */
  private def described(body: => Unit): Seq[String] = {
    val descriptions = new ConcurrentLinkedQueue[String]
    val listener = new SparkListener {
      override def onJobStart(job: SparkListenerJobStart): Unit =
        descriptions.add(String.valueOf(job.properties.getProperty("spark.job.description")))
    }
    spark.sparkContext.addSparkListener(listener)
    try {
      body
      spark.sparkContext.setJobDescription("the last job")
      spark.range(1).foreach(_ => ())
      eventually(assert(descriptions.contains("the last job")))
    } finally {
      spark.sparkContext.setJobDescription(null)
      spark.sparkContext.removeSparkListener(listener)
    }
    descriptions.asScala.toSeq.takeWhile(_ != "the last job")
  }

  for (adaptive <- Seq(true, false))
    test(s"the job that collects the rows is described, adaptive: $adaptive") {
      withConf("spark.sql.adaptive.enabled" -> adaptive.toString) {
        val jobs = described(executed(spark.sql(query)))
        assert(jobs.count(_ == "index of about 12K rows for piecewise") == 1, jobs)
        assert(jobs.count(_ == "null") == jobs.size - 1, jobs)
      }
    }

  test("a description of the user's comes first, and stays") {
    val jobs = described {
      spark.sparkContext.setJobDescription("nightly")
      executed(spark.sql(query))
      assert(spark.sparkContext.getLocalProperty("spark.job.description") == "nightly")
    }
    assert(jobs.contains("nightly: index of about 12K rows for piecewise"), jobs)
    assert(jobs.contains("nightly"), jobs)
  }

  test("the node has the number of rows") {
    val Seq(rows) =
      collect(executed(spark.sql(query))) { case rows: RepeatableRowsExec => rows }: @unchecked
    assert(rows.metrics.values.map(_.value).toSeq == Seq(12300L))
  }
}
