package thetajoin.exec

import org.apache.spark.sql.execution.SparkPlan

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.{Settings, SharedSession}

class KeyShuffledThetaJoinExecSuite extends AnyFunSuite with SharedSession {
  override protected def settings: Map[String, String] =
    Map("spark.sql.warehouse.dir" -> "target/warehouse")

  private val rows = 20000
  private val distinct = 500

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(0, rows, 1, 4).selectExpr("id", "id % 1000 AS k", "'text' AS s")
      .createOrReplaceTempView("probe")
    spark.range(0, rows, 1, 4).selectExpr(s"id % $distinct * 2 AS k")
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

  private def joins(plan: SparkPlan): Seq[KeyShuffledThetaJoinExec] =
    thetaJoins(plan).collect { case j: KeyShuffledThetaJoinExec => j }

  private def keyShuffles(plan: SparkPlan): Seq[KeyShuffleExec] =
    joins(plan).flatMap(join => collect(join) { case k: KeyShuffleExec => k })

  test("the rows are Spark's whether or not the keys are small enough to broadcast") {
    for (conf <- confs; exists <- Seq("EXISTS", "NOT EXISTS")) withConf(conf: _*) {
      val sql = "SELECT count(*), sum(id), max(s) FROM probe p WHERE " +
        s"$exists (SELECT 1 FROM build b WHERE b.k = p.k)"
      assert(joins(assertSame(sql, "existence")).size == 1, conf)
    }
  }

  test("each task sends a key once") {
    val sql = "SELECT count(*) FROM probe p WHERE EXISTS (SELECT 1 FROM build b WHERE b.k = p.k)"
    for (conf <- confs) withConf(conf: _*) {
      val Seq(shuffle) = keyShuffles(executed(spark.sql(sql))): @unchecked
      assert(shuffle.metrics("numKeys").value == 4 * distinct)
      assert(shuffle.metrics("dataSize").value == 4 * distinct * 16)
    }
  }

  test("the index of all partitions holds each key once, and probe rows stay if it is broadcast") {
    val sql = "SELECT count(*) FROM probe p WHERE EXISTS (SELECT 1 FROM build b WHERE b.k = p.k)"
    for (conf <- confs; Seq((_, limit), _, _) <- Seq(conf)) withConf(conf: _*) {
      val query = spark.sql(sql)
      val Seq(join) = joins(executed(query)): @unchecked
      assert(join.metrics("indexRows").value == distinct)
      assert(join.metrics("numOutputRows").value == rows / 2)
      val partitions = join.execute().getNumPartitions
      assert(partitions == (if (limit == "64k") 4 else keyShuffles(join).head.partitions))
    }
  }

  test("no file on the right side") {
    val folder = "target/partitioned"
    spark.range(100).selectExpr(
      "id AS k",
      "id % 2 AS half"
    ).write.partitionBy("half").mode("overwrite")
      .parquet(folder)
    spark.read.parquet(folder).where("half = 7").createOrReplaceTempView("pruned")
    for (conf <- confs.filter(_.head._2 == "1b"); exists <- Seq("EXISTS", "NOT EXISTS"))
      withConf(conf: _*) {
        val sql = "SELECT count(*), sum(id) FROM probe p WHERE " +
          s"$exists (SELECT 1 FROM pruned b WHERE b.k = p.k)"
        val query = spark.sql(sql)
        val Seq(shuffle) = keyShuffles(executed(query)): @unchecked
        assert(shuffle.child.execute().getNumPartitions == 0)
        assert(query.head().getLong(0) == (if (exists == "EXISTS") 0 else rows), conf)
      }
  }

  test("keys of many tasks are counted again before they are called too large") {
    spark.range(0, rows, 1, 50).selectExpr(s"id % 10 AS k").createOrReplaceTempView("repeated")
    val sql = "SELECT count(*) FROM probe p WHERE EXISTS (SELECT 1 FROM repeated b WHERE b.k = p.k)"
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "1k") {
      val Seq(join) = joins(executed(spark.sql(sql))): @unchecked
      assert(keyShuffles(join).head.metrics("dataSize").value == 50 * 10 * 16)
      assert(join.execute().getNumPartitions == 4)
    }
  }

  test("more keys than one index should hold go into more partitions") {
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "1b") {
      val sql = "SELECT count(*) FROM probe p WHERE EXISTS (SELECT 1 FROM build b WHERE b.k = p.k)"
      val Seq(shuffle) = keyShuffles(executed(spark.sql(sql))): @unchecked
      val few = shuffle.keys.inPartitionsOf(1L << 20)
      assert(few.getNumPartitions == shuffle.partitions)
      val many = shuffle.keys.inPartitionsOf(1000L)
      assert(many.getNumPartitions == 4 * distinct * 16 / 1000 + 1)
      assert(many.map(_.getLong(0)).distinct().count() == distinct)
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
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> "4k",
        "spark.sql.adaptive.skewJoin.skewedPartitionFactor" -> "2",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "4k"
      ) {
        for (exists <- Seq("EXISTS", "NOT EXISTS"); table <- Seq("skewed", "probe")) {
          val sql = s"SELECT count(*), sum(id), max(s) FROM $table p WHERE " +
            s"$exists (SELECT 1 FROM build b WHERE b.k = p.k)"
          val Seq(join) = joins(assertSame(sql, "existence")): @unchecked
          val splits = adaptive == "true" && table == "skewed"
          assert(join.execute().getNumPartitions > keyShuffles(join).head.partitions == splits)
        }
      }
  }

  test("the probe side is written ahead only if a partition of it may be large") {
    val sql = "SELECT id FROM probe p WHERE EXISTS (SELECT 1 FROM build b WHERE b.k = p.k)"
    def jobsBeforeRows(threshold: String): Int =
      withConf(
        "spark.sql.autoBroadcastJoinThreshold" -> "1b",
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> threshold
      ) {
        val Seq(join) = joins(assertSame(sql, "existence")): @unchecked
        val context = spark.sparkContext
        context.setJobGroup(s"ahead of $threshold", sql)
        try join.execute()
        finally context.clearJobGroup()
        context.statusTracker.getJobIdsForGroup(s"ahead of $threshold").length
      }
    assert(jobsBeforeRows("1k") == 1)
    assert(jobsBeforeRows("1g") == 0)
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
