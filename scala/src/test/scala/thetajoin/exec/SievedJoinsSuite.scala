package thetajoin.exec

import org.apache.spark.sql.execution.SparkPlan

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.driver.JoinMetrics
import thetajoin.{Settings, SharedSession}

/** Existence joins on keys whose right side may be too large to broadcast. */
class SievedJoinsSuite extends AnyFunSuite with SharedSession {
  override protected def settings: Map[String, String] =
    Map("spark.sql.warehouse.dir" -> "target/warehouse")

  private val rows = 20000
  private val distinct = 500
  private val exists =
    "SELECT count(*) FROM probe p WHERE EXISTS (SELECT 1 FROM build b WHERE b.k = p.k)"

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(0, rows, 1, 4).selectExpr("id", "id % 1000 AS k", "'text' AS s", "id & 7 AS v")
      .createOrReplaceTempView("probe")
    spark.range(0, rows, 1, 4).selectExpr(s"id % $distinct * 2 AS k", "id & 3 AS v")
      .createOrReplaceTempView("build")
  }

  private val confs = for {
    limit <- Seq("1b", "1k", "64k")
    codegen <- Seq("true", "false")
    adaptive <- Seq("true", "false")
  } yield Seq(
    "spark.sql.autoBroadcastJoinThreshold" -> limit,
    "spark.sql.codegen.wholeStage" -> codegen,
    "spark.sql.adaptive.enabled" -> adaptive
  )

  /** Whether the sieved rows are found small enough to broadcast. */
  private def isBroadcast(conf: Seq[(String, String)]): Boolean =
    conf.contains("spark.sql.autoBroadcastJoinThreshold" -> "64k") &&
      conf.contains("spark.sql.adaptive.enabled" -> "true")

  private def theJoin(plan: SparkPlan): ThetaJoinExec = {
    val Seq(join) = thetaJoins(plan): @unchecked
    join
  }

  private def blocks(plan: SparkPlan): Seq[BlockThetaJoinExec] =
    thetaJoins(plan).collect { case join: BlockThetaJoinExec => join }

  test("the rows are Spark's whether or not the keys are small enough to broadcast") {
    for (
      conf <- confs;
      exists <- Seq("EXISTS", "NOT EXISTS");
      on <- Seq("b.k = p.k", "b.k = p.k AND b.v > p.v")
    ) withConf(conf: _*) {
      val sql = "SELECT count(*), sum(id), max(s) FROM probe p WHERE " +
        s"$exists (SELECT 1 FROM build b WHERE $on)"
      assert(blocks(assertSame(sql, "existence")).isEmpty == isBroadcast(conf), (sql, conf))
    }
  }

  test("each task sends a key once, and the indexes hold it once") {
    for (conf <- confs) withConf(conf: _*) {
      val plan = executed(spark.sql(exists))
      val sent = collect(plan) { case s: SieveExec => s.metrics("numOutputRows").value }
      assert(sent.last == 4 * distinct, plan)
      assert(theJoin(plan).metrics(JoinMetrics.IndexRows).value == distinct)
      assert(theJoin(plan).metrics(JoinMetrics.OutputRows).value == rows / 2)
    }
  }

  test("IN goes through the same sieve, and is broadcast if its keys are found to be few") {
    for (conf <- confs) withConf(conf: _*) {
      val sql = "SELECT count(*), sum(id), max(s) FROM probe WHERE k IN (SELECT k FROM build)"
      val plan = assertSame(sql, "existence")
      val sent = collect(plan) { case s: SieveExec => s.metrics("numOutputRows").value }
      assert(sent.last == 4 * distinct, plan)
      assert(blocks(plan).isEmpty == isBroadcast(conf), (plan, conf))
    }
  }

  test("no file on the right side") {
    val folder = "target/partitioned"
    spark.range(100).selectExpr("id AS k", "id % 2 AS half").write.partitionBy("half")
      .mode("overwrite").parquet(folder)
    spark.read.parquet(folder).where("half = 7").createOrReplaceTempView("pruned")
    for (conf <- confs.filter(_.head._2 == "1b"); exists <- Seq("EXISTS", "NOT EXISTS"))
      withConf(conf: _*) {
        val sql = "SELECT count(*), sum(id) FROM probe p WHERE " +
          s"$exists (SELECT 1 FROM pruned b WHERE b.k = p.k)"
        val found = spark.sql(sql).head().getLong(0)
        assert(found == (if (exists == "EXISTS") 0 else rows), conf)
      }
  }

  test("the partition of a frequent key of the probe side is split") {
    // Four in five probe rows have one key.
    spark.range(0, rows, 1, 4).selectExpr("id", "IF(id % 5 = 0, id % 1000, 14) AS k", "'text' AS s")
      .createOrReplaceTempView("skewed")
    for (adaptive <- Seq("true", "false"); codegen <- Seq("true", "false"))
      withConf(
        "spark.sql.autoBroadcastJoinThreshold" -> "1b",
        "spark.sql.adaptive.enabled" -> adaptive,
        "spark.sql.codegen.wholeStage" -> codegen,
        "spark.sql.shuffle.partitions" -> "5",
        Settings.ShuffleMaxPartitionBytes.key -> "20k"
      ) {
        for (exists <- Seq("EXISTS", "NOT EXISTS"); table <- Seq("skewed", "probe")) {
          val sql = s"SELECT count(*), sum(id), max(s) FROM $table p WHERE " +
            s"$exists (SELECT 1 FROM build b WHERE b.k = p.k)"
          val Seq(join) = blocks(assertSame(sql, "existence")): @unchecked
          val partitions = join.execute().getNumPartitions
          assert(partitions > join.metrics("blocks").value == (table == "skewed"), (sql, adaptive))
        }
      }
  }

  test("build rows of one key stay in one block") {
    withConf(
      "spark.sql.autoBroadcastJoinThreshold" -> "1b",
      "spark.sql.shuffle.partitions" -> "3",
      Settings.ShuffleMaxPartitionBytes.key -> "1k"
    ) {
      for (exists <- Seq("EXISTS", "NOT EXISTS")) {
        val sql =
          s"SELECT id FROM probe p WHERE $exists (SELECT 1 FROM build b WHERE b.k = p.k)"
        val Seq(join) = blocks(assertSame(sql, "existence")): @unchecked
        assert(join.metrics("blocks").value == 3)
      }
    }
  }

  test("a side that is shuffled by the query is shuffled once") {
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "1b") {
      val sql = "SELECT id FROM probe p WHERE EXISTS " +
        "(SELECT /*+ REPARTITION(7, k) */ 1 FROM build b WHERE b.k = p.k)"
      val plan = assertSame(sql, "existence")
      assert(blocks(plan).size == 1)
      assert(collect(plan) { case s: SieveExec => s }.isEmpty)
    }
  }

  test("a thread without a session can run the query") {
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "1b") {
      val query = spark.sql("SELECT id FROM probe p WHERE k IN (SELECT k FROM build)")
      assert(countWithoutSession(query) == rows / 2)
    }
  }

  test("bucketed tables are left to Spark") {
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "1b") {
      spark.table("probe").write.bucketBy(4, "k").sortBy("k").saveAsTable("bucketed")
      try
        assertSame("SELECT id FROM bucketed b WHERE k IN (SELECT k FROM bucketed WHERE id < 50)")
      finally spark.sql("DROP TABLE bucketed")
    }
  }

  test("switched off by its accelerator's setting") {
    withConf(
      "spark.sql.autoBroadcastJoinThreshold" -> "1b",
      Settings.acceleratorEnabled("existence").key -> "false"
    )(assertSame("SELECT id FROM probe WHERE k IN (SELECT k FROM build)"))
  }
}
