package thetajoin.exec

import org.apache.spark.sql.execution.{CodegenMode, RangeExec, SparkPlan}

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.{Settings, SharedSession}

class PairsThenTailExecSuite extends AnyFunSuite with SharedSession {
  private val points = 80L

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(0, points, 1, 3).selectExpr("id", "id % 11 AS k", "id * 50021 % 4000000 AS t")
      .createOrReplaceTempView("points")
    // Enough for two slices.
    spark.range(0, 140000, 1, 2).selectExpr(
      "id + 0 AS no",
      "id % 13 AS g",
      "id * 29 AS lo",
      "id * 29 + id % 40 AS hi",
      "IF(id % 3 = 0, NULL, concat('t', id)) AS note"
    ).createOrReplaceTempView("spans")
  }

  private val preserving = for {
    (side, join) <- Seq(("s", "FULL"), ("p", "FULL"), ("s", "RIGHT"), ("p", "LEFT"))
  } yield s"SELECT /*+ BROADCAST($side) */ count(*), count(id), count(no), sum(t), sum(hi), max(no - t) " +
    s"FROM points p $join JOIN spans s ON "

  private def passes(plan: SparkPlan): Seq[PairsThenTailExec] =
    collect(plan) { case p: PairsThenTailExec => p }

  private def probed(plan: SparkPlan): Seq[Long] =
    passes(plan).flatMap(p => collect(p.pairs) { case j: BroadcastThetaJoinExec => j.left })
      .flatMap(probe => collect(probe) { case r: RangeExec => r })
      .map(_.metrics("numOutputRows").value)

  test("the rows are Spark's, by every accelerator") {
    val conditions = Seq(
      "t BETWEEN lo AND hi" -> "interval",
      "k = g AND t BETWEEN lo AND hi" -> "interval",
      "t BETWEEN lo AND hi AND (id + no) % 3 <> 1" -> "interval",
      "no < id % 5 AND p.id > 40" -> "piecewise",
      "(id + no) % 40000 = 7 AND p.id < 40" -> "nestedloop"
    )
    for (
      (adaptive, batches) <- Seq("true" -> "0", "false" -> "1p");
      (condition, accelerator) <- conditions;
      sql <- preserving
    )
      withConf(
        "spark.sql.adaptive.enabled" -> adaptive,
        Settings.SortProbeMinIndexBytes.key -> batches
      )(assert(passes(assertSame(sql + condition, accelerator)).size == 1, sql + condition))
  }

  test("the probe side is read once") {
    for (adaptive <- Seq("true", "false"))
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        val sql = preserving.head + "t BETWEEN lo AND hi"
        assert(probed(executed(spark.sql(sql))) == Seq(points))
      }
  }

  test("a query can be run again, and have several of them") {
    val sql = s"${preserving.head} t BETWEEN lo AND hi UNION ALL ${preserving(2)} t > lo AND t < hi"
    onEveryPath { codegen =>
      val query = spark.sql(sql)
      val first = query.collect().toSeq
      assert(query.collect().toSeq == first)
      assert(passes(assertSame(sql, "interval", "interval")).size == (if (codegen) 2 else 0))
    }
  }

  test("equal ones run once") {
    val sql = s"${preserving.head} t BETWEEN lo AND hi"
    val others =
      Seq(sql.replace("count(no)", "max(no)"), sql.replace("BETWEEN lo", "BETWEEN lo + 9"))
    for (adaptive <- Seq("true", "false"))
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        assert(passes(assertSame(s"$sql UNION ALL $sql", "interval")).size == 1)
        for (other <- others)
          assert(passes(assertSame(s"$sql UNION ALL $other", "interval", "interval")).size == 2)
      }
  }

  test("empty sides, and tasks without rows") {
    val excluded = "org.apache.spark.sql.catalyst.optimizer.PropagateEmptyRelation"
    val adaptiveExcluded =
      "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation"
    withConf(
      "spark.sql.optimizer.excludedRules" -> excluded,
      "spark.sql.adaptive.optimizer.excludedRules" -> adaptiveExcluded
    ) {
      onEveryPath { codegen =>
        for ((p, s) <- Seq("id < 0" -> "true", "id = 79" -> "no < 1000", "true" -> "no < 0")) {
          val plan = assertSame(
            "SELECT /*+ BROADCAST(s) */ count(*), count(id), sum(no), max(hi) FROM " +
              s"(SELECT * FROM points WHERE $p) p FULL JOIN (SELECT * FROM spans WHERE $s) s " +
              "ON t BETWEEN lo AND hi",
            "interval"
          )
          assert(passes(plan).size == (if (codegen) 1 else 0), (p, s))
        }
      }
    }
  }

  test("generated code can be shown before the query has run") {
    for (adaptive <- Seq("true", "false"))
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        val query = spark.sql(preserving.head + "t BETWEEN lo AND hi")
        val code = query.queryExecution.explainString(CodegenMode)
        if (adaptive == "false") assert(code.contains("TailRows"))
        assert(query.collect().length == 1)
      }
  }

  test("with grouping keys, or rows that leave the stage, the probe side is read again") {
    val from = "FROM points p FULL JOIN spans s ON t BETWEEN lo AND hi"
    for (
      sql <- Seq(
        s"SELECT /*+ BROADCAST(s) */ k, count(*) $from GROUP BY k",
        s"SELECT /*+ BROADCAST(s) */ id, no $from WHERE id > 70 OR no < 9"
      )
    ) assert(passes(assertSame(sql, "interval")).isEmpty)
  }

  test("the report says the join as the query has it") {
    val query = spark.sql(preserving.head + "t BETWEEN lo AND hi")
    query.collect()
    val report = thetajoin.report.JoinReport.of(query.queryExecution.executedPlan)
    assert(report.map(_.joinType) == Seq("FullOuter"))
    assert(report.head.outcome.exists(_.seen.exists(_.matches > 0)))
  }
}
