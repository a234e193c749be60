package thetajoin.large

import java.nio.file.Files

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AQEShuffleReadExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.exec.BlockThetaJoinExec
import thetajoin.{Settings, SharedSession}

class LargeJoinsSuite extends AnyFunSuite with SharedSession {
  override protected def settings: Map[String, String] = Map(
    "spark.sql.autoBroadcastJoinThreshold" -> "1b",
    "spark.sql.shuffle.partitions" -> "4",
    Settings.BroadcastMaxBytes.key -> "2k"
  )

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(0, 3000, 1, 3).selectExpr(
      "id",
      "CAST(IF(id % 50 = 0, NULL, id * 7919 % 10000) AS INT) AS t",
      "CAST(id * 31 % 977 AS DOUBLE) AS u",
      "concat('s', id % 100) AS s"
    ).createOrReplaceTempView("points")
    spark.range(0, 900, 1, 2).selectExpr(
      "id AS no",
      "CAST(IF(id % 70 = 0, NULL, 9000 + id * 104729 % 3000) AS INT) AS lo",
      "IF(id % 80 = 0, CAST('NaN' AS DOUBLE), CAST(id * 37 % 999 AS DOUBLE)) AS w",
      "concat('s', id % 90) AS r"
    ).createOrReplaceTempView("spans")
  }

  private val preserving = Seq("LEFT JOIN", "RIGHT JOIN", "FULL JOIN")

  private def blockJoins(plan: SparkPlan): Seq[BlockThetaJoinExec] =
    thetaJoins(plan).collect { case join: BlockThetaJoinExec => join }

  test("EXISTS of one comparison is joined with few of the right rows") {
    onEveryPath { _ =>
      for {
        test <- Seq("EXISTS", "NOT EXISTS", "id < 9 OR EXISTS")
        on <-
          Seq(
            "t >= lo",
            "t > lo AND no < 30",
            "u > w AND no > 5",
            "s > r AND id % 2 = 0",
            "u < w AND no BETWEEN 1 AND 9"
          )
      } {
        val plan =
          assertSomeRows(s"SELECT id FROM points WHERE $test (SELECT 1 FROM spans WHERE $on)")
        assert(broadcastJoins(plan).map(_.metrics("indexRows").value).forall(_ <= 30), plan)
        // Without adaptive execution nobody counts the rows that the sieve leaves.
        val isCounted = spark.conf.get("spark.sql.adaptive.enabled").toBoolean
        assert((if (isCounted) broadcastJoins(plan) else blockJoins(plan)).nonEmpty, plan)
      }
    }
  }

  test("first matches among right rows that turn out to be few are not cut into blocks") {
    def joins(right: String, joinType: String) = {
      val plan = assertSomeRows(
        s"SELECT id, lo FROM points $joinType LATERAL (SELECT lo FROM (SELECT * FROM spans WHERE $right) WHERE lo >= t ORDER BY lo LIMIT 2)"
      )
      (broadcastJoins(plan).size, blockJoins(plan).size)
    }
    for (joinType <- Seq("JOIN", "LEFT JOIN")) {
      assert(joins("no % 100 = 3", joinType) == (1, 0))
      assert(joins("no % 100 > 3", joinType) == (0, 1))
      withConf("spark.sql.adaptive.enabled" -> "false") {
        assert(joins("no % 100 = 3", joinType) == (0, 1))
      }
    }
  }

  test(
    "arrays that may be larger than they are taken for are measured before the other side moves"
  ) {
    val folder = Files.createTempDirectory("thetajoin-arrays").toFile
    val narrow =
      (1 to 9).map(i => s"id AS p$i") :+ "transform(sequence(1, 20), i -> hash(id, i)) AS xs"
    spark.range(0, 3000, 1, 2).selectExpr("id" +: narrow: _*)
      .write.mode("overwrite").parquet(folder.getPath)
    spark.read.parquet(folder.getPath).createOrReplaceTempView("arrays")
    val bytes = folder.listFiles.filter(_.getName.endsWith(".parquet")).map(_.length).sum
    def joins(right: String, limit: Long) =
      withConf(Settings.BroadcastMaxBytes.key -> s"${limit}b") {
        val plan = assertSomeRows(
          s"SELECT a.id, b.id FROM arrays a JOIN (SELECT * FROM arrays WHERE $right) b ON arrays_overlap(a.xs, b.xs)"
        )
        val shuffles = collect(plan) { case shuffle: ShuffleExchangeLike => shuffle }
        (broadcastJoins(plan).size, blockJoins(plan).size, shuffles.nonEmpty)
      }
    assert(joins("p1 > 9", bytes / 2) == (0, 1, true))
    assert(joins("p1 % 100 = 3", bytes / 2) == (1, 0, true))
    assert(joins("p1 > 9", bytes * 2) == (1, 0, false))
    withConf("spark.sql.adaptive.enabled" -> "false") {
      assert(joins("p1 > 9", bytes / 2) == (1, 0, false))
    }
  }

  test("EXISTS of one comparison with a side without rows") {
    for (
      test <- Seq("EXISTS", "NOT EXISTS"); sides <- Seq("points" -> "spans", "spans" -> "points")
    ) {
      val sql = s"SELECT count(*) FROM ${sides._1} l WHERE $test " +
        s"(SELECT 1 FROM (SELECT * FROM ${sides._2} WHERE rand() > 2) r WHERE t < lo)"
      assertSameRows(sql)
    }
  }

  test("EXISTS of two comparisons is joined with the rows that none beats, once these are counted") {
    for (
      test <- Seq("EXISTS", "NOT EXISTS");
      on <- Seq("t >= lo AND u < w", "t < lo AND u > w AND no % 3 = 1")
    ) {
      val sql = s"SELECT id FROM points WHERE $test (SELECT 1 FROM spans WHERE $on)"
      onEveryPath(_ => assertSomeRows(sql))
      val plan = assertSameRows(sql)
      assert(collect(plan) { case read: AQEShuffleReadExec => read }.size == 1)
      assert(broadcastJoins(plan).map(_.join.accelerator) == Seq("interval"))
      assert(broadcastJoins(plan).head.metrics("indexRows").value < 150)
      assert(collect(plan) { case s: ShuffleExchangeLike =>
        s.metrics("shuffleRecordsWritten").value
      }.sum < 200)
    }
  }

  test("rows that have no match by the extremes of the other side are left out ahead of blocks") {
    onEveryPath { _ =>
      for (on <- Seq("t > lo", "t + 7 > lo + no", "t > lo AND s <> r")) {
        val plan = assertSomeRows(s"SELECT * FROM points JOIN spans ON $on")
        assert(blockJoins(plan).map(_.metrics("indexRows").value < 900) == Seq(true), plan)
        assert(collect(plan) { case s: ShuffleExchangeLike => s }.size == 1)
      }
      for (joinType <- preserving; on <- Seq("t > lo", "s > r AND t > 9700")) {
        val plan = assertSomeRows(s"SELECT id, no FROM points $joinType spans ON $on AND no < 40")
        assert(thetaJoins(plan).size == (if (joinType == "FULL JOIN") 2 else 1), plan)
      }
    }
  }

  test("a value that can't be computed leaves no row out") {
    val far = "(SELECT no, IF(no = 7, 2147483647, lo) AS lo FROM spans) far"
    for (sql <- Seq(s"points JOIN $far ON t > lo + 5", s"points LEFT JOIN $far ON t > lo + 5")) {
      withConf("spark.sql.ansi.enabled" -> "false")(assertSomeRows(s"SELECT * FROM $sql"))
      withConf("spark.sql.ansi.enabled" -> "true") {
        val raised = intercept[Exception](spark.sql(s"SELECT * FROM $sql").collect())
        assert(raised.getMessage.contains("ARITHMETIC_OVERFLOW"))
      }
    }
  }

  test("a sum over both sides that is beyond its limit for some rows") {
    val far = "(SELECT no, IF(no % 9 = 0, -400000000, lo) AS lo FROM spans) far"
    for (joinType <- "JOIN" +: preserving)
      assertSomeRows(
        s"SELECT id, no, t, lo FROM points $joinType $far ON t - lo > 1000 AND id % 7 <> no % 5"
      )
  }

  test("a side that is small once it is shuffled is broadcast") {
    val few =
      "(SELECT /*+ REPARTITION(3) */ a.no, a.lo FROM spans a, spans b WHERE a.no = b.no AND a.no < 9)"
    for (joinType <- Seq("LEFT JOIN", "LEFT ANTI JOIN"); adaptive <- Seq(true, false))
      withConf("spark.sql.adaptive.enabled" -> adaptive.toString) {
        val plan =
          assertSomeRows(s"SELECT id FROM points $joinType $few ON t > lo AND id % 3 <> no")
        assert(blockJoins(plan).size == (if (adaptive) 0 else 1), plan)
        assert(broadcastJoins(plan).size == (if (adaptive) 1 else 0), plan)
      }
  }

  test("reasons that leave a join to Spark leave it as it is") {
    val conditions = Seq(
      "SELECT /*+ NO_THETA_JOIN */ * FROM points FULL JOIN spans ON t > lo",
      "SELECT /*+ NO_THETA_JOIN */ * FROM points JOIN spans ON t > lo",
      "SELECT * FROM points FULL JOIN spans ON t > lo + (SELECT min(no) FROM spans)",
      "SELECT * FROM points LEFT ANTI JOIN spans ON t > lo AND id > (SELECT min(no) FROM spans)",
      "SELECT input_file_name(), * FROM points LEFT JOIN spans ON t > lo"
    )
    for (sql <- conditions) {
      val on = spark.sql(sql).queryExecution.optimizedPlan.toString
      assert(!on.contains("extremes") && !on.contains("Union") && !on.contains("Repartition"), on)
    }
    withConf(Settings.ShuffleMaxPartitionBytes.key -> "0") {
      val sql = "SELECT * FROM points FULL JOIN spans ON t > lo"
      assert(broadcastJoins(assertSomeRows(sql)).size == 1)
      assert(assertSomeRows("SELECT id FROM points WHERE EXISTS (SELECT 1 FROM spans WHERE t > lo)")
        .toString.contains("BroadcastThetaJoin"))
    }
  }

  test("left as they are: small sides, hints, and joins that are rewritten already") {
    val exists = "SELECT id FROM points WHERE EXISTS (SELECT 1 FROM spans WHERE t >= lo)"
    def logical(sql: String) = spark.sql(sql).queryExecution.optimizedPlan
    assert(logical(exists).toString.contains("Sieve"))
    withConf(Settings.BroadcastMaxBytes.key -> "1m")(
      assert(!logical(exists).toString.contains("Sieve"))
    )
    for (
      sql <- Seq(
        "SELECT /*+ BROADCAST(spans) */ * FROM points JOIN spans ON t > lo",
        "SELECT * FROM points JOIN spans ON t = lo AND id > no"
      )
    ) assert(!logical(sql).toString.contains("extremes"))
    for (
      sql <- Seq(
        exists,
        "SELECT id FROM points WHERE EXISTS (SELECT 1 FROM spans WHERE t >= lo AND u < w)",
        "SELECT * FROM points JOIN spans ON t > lo",
        "SELECT * FROM points FULL JOIN spans ON t > lo",
        "SELECT * FROM points LEFT JOIN spans ON t > lo AND t < lo + 5"
      )
    ) {
      val once = logical(sql)
      assert(LargeJoins(once).fastEquals(once), once)
    }
  }
}
