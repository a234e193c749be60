package thetajoin.stream

import org.apache.spark.sql.execution.streaming.{MemoryStream, StreamingQueryWrapper}
import org.apache.spark.sql.streaming.StreamingQuery

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

import thetajoin.SharedSession

class KeptIndexesSuite extends AnyFunSuite with SharedSession with Eventually {

  private def broadcasts(query: StreamingQuery): Seq[KeptBroadcastExec] = {
    val execution = query.asInstanceOf[StreamingQueryWrapper].streamingQuery.lastExecution
    collect(execution.executedPlan) { case kept: KeptBroadcastExec => kept }
  }

  private def withQuery(table: String)(body: (MemoryStream[Int], StreamingQuery) => Unit): Unit = {
    val session = spark
    import session.implicits._
    implicit val context: org.apache.spark.sql.SQLContext = spark.sqlContext
    val source = MemoryStream[Int]
    source.toDF().createOrReplaceTempView("events")
    val joined =
      spark.sql(s"SELECT value, r.lo FROM events JOIN $table r ON value BETWEEN r.lo AND r.hi")
    val query = joined.writeStream.format("memory").queryName("written").start()
    try body(source, query)
    finally query.stop()
  }

  private val ranges = "(SELECT id AS lo, id + 1 AS hi FROM range(9))"

  test("the end of a query releases its indexes") {
    withQuery(ranges) { (source, query) =>
      source.addData(1, 2)
      query.processAllAvailable()
      val id = query.id.toString
      val kept = KeptIndexes.of(id, spark.sparkContext)
      assert(kept.size == 1)
      source.addData(3)
      query.processAllAvailable()
      assert(broadcasts(query).map(_.found.isDefined) == Seq(true))
      assert(KeptIndexes.of(id, spark.sparkContext) eq kept)
      query.stop()
      eventually(timeout(10.seconds))(assert(kept.size == 0))
      assert(KeptIndexes.of(id, spark.sparkContext) ne kept)
    }
  }

  test("an index that somebody has destroyed is built anew") {
    withQuery(ranges) { (source, query) =>
      source.addData(1)
      query.processAllAvailable()
      val built = broadcasts(query).head
      built.executeBroadcast[Any]().destroy()
      source.addData(5)
      query.processAllAvailable()
      assert(broadcasts(query).map(_.found) == Seq(None))
      assert(spark.table("written").count() == 4)
      source.addData(6)
      query.processAllAvailable()
      assert(broadcasts(query).map(_.found.isDefined) == Seq(true))
      assert(spark.table("written").count() == 6)
    }
  }

  test("an index goes as soon as another one takes its place") {
    val table = spark.range(0, 9).selectExpr("id AS lo", "id + 1 AS hi").cache()
    table.createOrReplaceTempView("cached")
    withQuery("cached") { (source, query) =>
      Seq(1, 2, 3).foreach { value =>
        source.addData(value)
        query.processAllAvailable()
        assert(KeptIndexes.of(query.id.toString, spark.sparkContext).size == 1)
      }
      assert(broadcasts(query).map(_.found.isDefined) == Seq(true))
      table.unpersist(blocking = true)
      source.addData(4)
      query.processAllAvailable()
      assert(KeptIndexes.of(query.id.toString, spark.sparkContext).size == 1)
      assert(spark.table("written").count() == 8)
    }
  }
}
