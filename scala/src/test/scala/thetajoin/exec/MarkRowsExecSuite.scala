package thetajoin.exec

import org.apache.spark.sql.execution.CodegenMode
import org.apache.spark.sql.functions.{count, lit}
import org.apache.spark.sql.{DataFrame, Observation}

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.SharedSession

/** Existence joins whose left side is built: their right side marks its rows. */
class MarkRowsExecSuite extends AnyFunSuite with SharedSession {
  private val longRows = 100000L

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(0, 50, 1, 2).selectExpr("id * 2 v", "id k").createOrReplaceTempView("a")
    spark.range(0, longRows, 1, 2).selectExpr("id", "id & 127 AS x").createOrReplaceTempView("long")
  }

  private def assertMarked(query: DataFrame, codegen: Boolean): Unit = {
    val plan = query.queryExecution.executedPlan
    assert(broadcastJoins(plan).size == 1, plan)
    assert(collect(plan) { case m: MarkRowsExec => m }.size == (if (codegen) 1 else 0), plan)
  }

  test(
    "rows come out by the broadcast by which they were marked, though the build side gives others each time"
  ) {
    val anew =
      "SELECT abs(hash(reflect('java.util.UUID', 'randomUUID')) % 1000) AS v FROM range(0, 432, 1, 2)"
    val isOdd = "SELECT id * 2 + 1 AS x FROM range(0, 1000, 1, 2)"
    for (reuse <- Seq("true", "false"); join <- Seq("SEMI", "ANTI"))
      withConf("spark.sql.exchange.reuse" -> reuse)(onEveryPath { codegen =>
        val query = spark.sql(
          s"WITH b AS ($anew), o AS ($isOdd) SELECT /*+ BROADCAST(b) */ v FROM b LEFT $join JOIN o ON v = x"
        )
        val remainder = if (join == "SEMI") 1 else 0
        val rows = query.collect().map(_.getInt(0))
        assert(rows.nonEmpty && rows.forall(_ % 2 == remainder), query.queryExecution.executedPlan)
        assertMarked(query, codegen)
      })
  }

  test("all rows of the right side are read where they are counted") {
    val plain = spark.table("long")
    for (join <- Seq("left_semi", "left_anti")) onEveryPath { codegen =>
      val seen = Observation()
      val counted = plain.observe(seen, count(lit(1)).as("rows"))
      val a = spark.table("a").hint("broadcast")
      val query = a.join(counted, a("v") === counted("x"), join)
      query.collect()
      assert(seen.get("rows") == longRows, query.queryExecution.executedPlan)
      assertMarked(query, codegen)
    }
  }

  test("all rows of the right side are read where user code may count them") {
    val calls = spark.sparkContext.longAccumulator
    spark.udf.register("counted", (x: Long) => { calls.add(1); x })
    onEveryPath { codegen =>
      calls.reset()
      val query = spark.sql(
        "SELECT /*+ BROADCAST(a) */ * FROM a LEFT SEMI JOIN (SELECT counted(x) y FROM long) ON v = y"
      )
      query.collect()
      assert(calls.value >= longRows, query.queryExecution.executedPlan)
      assertMarked(query, codegen)
    }
  }

  test("a row of the right side that fails is the query's error") {
    val last = longRows - 1
    val failing = Seq(
      s"SELECT x FROM long WHERE assert_true(id <> $last) IS NULL",
      s"SELECT x FROM long WHERE 1 / (id - $last) IS NOT NULL"
    )
    for (right <- failing) onEveryPath { codegen =>
      val query =
        spark.sql(s"SELECT /*+ BROADCAST(a) */ * FROM a LEFT SEMI JOIN ($right) ON v = x")
      intercept[RuntimeException](query.collect())
      assertMarked(query, codegen)
    }
  }

  test("generated code can be shown before the query has run, and after it") {
    for (adaptive <- Seq("true", "false"); join <- Seq("LEFT SEMI", "LEFT ANTI", "FULL"))
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        val sql = s"SELECT /*+ BROADCAST(a) */ * FROM a $join JOIN long ON v = x AND v < id"
        val query = spark.sql(sql)
        def shown = query.queryExecution.explainString(CodegenMode)
        // Adaptive execution has no stages before it runs.
        assert(shown.contains("UnmatchedRows") == (adaptive == "false" && join != "FULL"))
        val rows = query.collect().length
        assert(shown.contains("BroadcastThetaJoin") && query.collect().length == rows)
        assertSame(sql, "interval")
      }
  }
}
