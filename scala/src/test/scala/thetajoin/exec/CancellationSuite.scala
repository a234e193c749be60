package thetajoin.exec

import scala.util.Try

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.accelerator.nestedloop.AllRowsSpec
import thetajoin.relation.ThetaBroadcastMode

/** A cancelled query gives its cores back within some seconds, however many pairs it looks at before it gives a row. */
class CancellationSuite extends AnyFunSuite with CancelledQueries {
  private val never = "(a.id * b.id) % 1000003 = -1"

  private val queries = Seq(
    "BroadcastThetaJoin" -> s"SELECT a.id, b.v FROM a JOIN b ON $never",
    "BroadcastThetaJoin" -> s"SELECT a.id, b.v FROM a LEFT JOIN b ON $never",
    "PairAggregate" -> s"SELECT count(*) FROM a JOIN b ON $never",
    "PairAggregate" -> "SELECT max(a.v * b.v) FROM a JOIN b ON a.id <> b.id",
    "BroadcastThetaJoin" -> "SELECT a.id % 7, sum(b.v) FROM a JOIN b ON a.id <> b.id GROUP BY 1",
    "BroadcastThetaJoin" -> "SELECT a.id % 7, max(a.v + b.v) FROM a JOIN b ON a.id > b.lo GROUP BY 1",
    "BroadcastThetaJoin" -> "SELECT a.id % 7, max(a.v + b.v) FROM a JOIN b ON a.id BETWEEN b.lo AND b.hi GROUP BY 1",
    "BroadcastThetaJoin" -> s"SELECT a.id, b.v FROM a JOIN b ON a.id BETWEEN b.lo AND b.hi AND $never",
    "BroadcastThetaJoin" -> s"SELECT /*+ BROADCAST(b) */ * FROM a LEFT SEMI JOIN b ON $never",
    "BroadcastThetaJoin" -> s"SELECT /*+ BROADCAST(b) */ * FROM a LEFT ANTI JOIN b ON a.id > b.lo AND $never",
    // All rows together overflow, so that the rows of a run are added one by one.
    "BroadcastThetaJoin" -> "SELECT /*+ BROADCAST(b) */ a.id % 7, sum(IF(b.id < 3, 9223372036854775807, 0)) FROM a JOIN b ON b.id > a.id + 1000000 GROUP BY 1",
    "MarkRows" -> s"SELECT /*+ BROADCAST(a) */ * FROM a LEFT SEMI JOIN b ON a.k = b.k AND $never",
    "BroadcastThetaJoin" -> s"SELECT /*+ BROADCAST(b) */ * FROM a FULL JOIN b ON $never",
    "BroadcastThetaJoin" -> s"SELECT /*+ BROADCAST(b) */ count(b.v) FROM a FULL JOIN b ON $never",
    "ShuffledThetaJoin" -> s"SELECT /*+ MERGE(c), THETA_JOIN(b) */ a.id FROM a JOIN b ON a.k = b.k AND a.id > b.lo AND $never"
  )

  for (((node, sql), i) <- queries.zipWithIndex)
    test(s"query ${i + 1}, $node") {
      withConf("spark.sql.autoBroadcastJoinThreshold" -> (if (node.startsWith("Shuffled")) "-1"
                                                          else "1g")) {
        assertFreed(spark.sql(sql), node)
      }
    }

  private val interpreted = Seq("LEFT JOIN b", "LEFT SEMI JOIN b", "FULL JOIN b")

  for (join <- interpreted)
    test(s"without generated code, $join") {
      withConf("spark.sql.codegen.wholeStage" -> "false") {
        val sql = s"SELECT /*+ BROADCAST(b) */ a.id FROM a $join ON $never"
        assertFreed(spark.sql(sql), "BroadcastThetaJoin")
      }
    }

  test("BlockThetaJoin of keys") {
    withConf(
      "spark.sql.autoBroadcastJoinThreshold" -> "100k",
      "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "1k"
    ) {
      val query = spark.sql(
        "SELECT count(*) FROM range(0, 1000000000000, 1, 2) o " +
          "WHERE EXISTS (SELECT 1 FROM b WHERE b.id % 1000 = o.id)"
      )
      assertFreed(query, "BlockThetaJoin")
    }
  }

  test("an interrupted thread of the driver stops building") {
    val mode = ThetaBroadcastMode(
      "nestedloop",
      AllRowsSpec(),
      Nil,
      None,
      Nil,
      keepUnmatchable = true,
      Nil
    )(None)
    val row = new UnsafeRow(0)
    var outcome: Try[Any] = null
    val thread = new Thread(() =>
      outcome = Try {
        try mode.transform(Iterator.continually[InternalRow](row), None)
        catch { case e: InterruptedException => throw new IllegalStateException(e) }
      }
    )
    thread.start()
    Thread.sleep(100)
    thread.interrupt()
    thread.join(5000)
    assert(outcome.failed.get.getCause.isInstanceOf[InterruptedException])
  }
}
