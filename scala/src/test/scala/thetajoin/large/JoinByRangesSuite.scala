package thetajoin.large

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{ReusedExchangeExec, ShuffleExchangeLike}
import org.apache.spark.sql.functions.col

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.exec.{BlockThetaJoinExec, RangeBoundsExec, ShuffledThetaJoinExec}
import thetajoin.{Settings, SharedSession}

class JoinByRangesSuite extends AnyFunSuite with SharedSession {
  override protected def settings: Map[String, String] = Map(
    "spark.sql.warehouse.dir" -> "target/warehouse",
    "spark.sql.autoBroadcastJoinThreshold" -> "1b",
    "spark.sql.shuffle.partitions" -> "4",
    Settings.BroadcastMaxBytes.key -> "2k"
  )

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(0, 3000, 1, 3).selectExpr(
      "id",
      "CAST(IF(id % 50 = 0, NULL, id * 7919 % 10000) AS INT) AS t",
      "id * 31 % 7 AS k"
    ).createOrReplaceTempView("points")
    spark.range(0, 600, 1, 2).selectExpr(
      "id AS no",
      "CAST(IF(id % 70 = 0, NULL, id * 104729 % 10000) AS INT) AS lo",
      "CAST(IF(id % 90 = 0, NULL, id * 104729 % 10000 + id % 9 * 3 - 1) AS INT) AS hi",
      "id % 7 AS j"
    ).createOrReplaceTempView("spans")
  }

  private val joinTypes =
    Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
  private val sides = Seq("points" -> "spans", "spans" -> "points")

  private def query(
      joinType: String,
      left: String = "points",
      right: String = "spans",
      on: String = "t BETWEEN lo AND hi"
  ) = s"SELECT * FROM $left $joinType $right ON $on"

  private def shuffled(plan: SparkPlan): Seq[ShuffledThetaJoinExec] =
    thetaJoins(plan).collect { case j: ShuffledThetaJoinExec => j }

  private def bounds(plan: SparkPlan): Seq[RangeBoundsExec] =
    collectWithSubqueries(plan) { case b: RangeBoundsExec => b }

  /** The same rows with the extension on and off, some of which are within a range. */
  private def assertByRanges(sql: String): SparkPlan = {
    val plan = assertSomeRows(sql)
    assert(shuffled(plan).nonEmpty && shuffled(plan).forall(_.leftKeys.size == 1), plan)
    assert(shuffled(plan).exists(_.metrics("indexRows").value > 0), plan)
    plan
  }

  test("points and intervals, of any join type, either side first") {
    onEveryPath(_ =>
      for (joinType <- joinTypes; (l, r) <- sides) assertByRanges(query(joinType, l, r))
    )
  }

  test("bands around a value, whose sums are computed within a range") {
    val other = "(SELECT no, lo AS u FROM spans) s"
    for (on <- Seq("abs(t - u) <= 3", "t - u > -4 AND t - u < 4"))
      assertByRanges(s"SELECT * FROM points LEFT JOIN $other ON $on")
  }

  test("a row whose value can't be computed meets all rows, as it does in one join") {
    val other =
      "(SELECT no, IF(no = 7, 2147483647, lo) AS u FROM spans) s ON t BETWEEN u + 2 - 4 AND u + 2"
    withConf("spark.sql.ansi.enabled" -> "false")(
      for (joinType <- joinTypes) assertByRanges(s"SELECT * FROM points $joinType $other")
    )
    withConf("spark.sql.ansi.enabled" -> "true")(
      for (joinType <- joinTypes)
        assert(intercept[Exception](spark.sql(s"SELECT * FROM points $joinType $other").collect())
          .getMessage.contains("ARITHMETIC_OVERFLOW"))
    )
  }

  test("a row with a null beside a value that can't be computed has no match") {
    val far =
      "(SELECT no, IF(no = 7, 1000000000, lo) AS lo, IF(no = 7, NULL, hi) AS hi FROM spans) s"
    val other =
      "(SELECT no, IF(no = 7, NULL, lo) AS lo, IF(no = 7, 1000000000, hi) AS hi FROM spans) s"
    for (side <- Seq(far, other); joinType <- joinTypes.take(4)) {
      assertByRanges(s"SELECT * FROM points $joinType $side ON t - lo > -2 AND t - hi < 2")
      assertByRanges(s"SELECT * FROM $side $joinType points ON t - lo > -2 AND t - hi < 2")
    }
  }

  test(
    "a function of the user's that fails where another conjunct would have kept it from being called"
  ) {
    spark.udf.register("positive", (n: Int) => { require(n > 0); n })
    onEveryPath(_ =>
      for (joinType <- joinTypes.take(2))
        assertByRanges(
          s"SELECT * FROM points $joinType spans ON t > 0 AND positive(t) >= lo AND positive(t) <= hi"
        )
    )
  }

  test("values of other types") {
    val types = Seq("BIGINT", "DOUBLE", "FLOAT", "DECIMAL(10, 2)", "SMALLINT")
    for (t <- types)
      assertByRanges(
        s"SELECT * FROM (SELECT id, CAST(t AS $t) AS t FROM points) p LEFT JOIN " +
          s"(SELECT no, CAST(lo AS $t) AS lo, CAST(hi AS $t) AS hi FROM spans) s ON t BETWEEN lo AND hi"
      )
    for (unit <- Seq("date_from_unix_date(t)", "timestamp_seconds(t)"))
      assertByRanges(
        s"SELECT * FROM (SELECT id, $unit AS t FROM points) p LEFT JOIN (SELECT no, " +
          s"${unit.replace("t)", "lo)")} AS lo, ${unit.replace("t)", "hi)")} AS hi FROM spans) s " +
          "ON t >= lo AND t < hi"
      )
  }

  test("empty sides") {
    val noPoint = "(SELECT * FROM points WHERE id < 0) p"
    val noSpan = "(SELECT * FROM spans WHERE no < 0) s"
    // Adaptive execution drops a join of no rows.
    withConf("spark.sql.adaptive.enabled" -> "false")(
      for {
        joinType <- joinTypes
        (l, r) <- Seq(noPoint -> "spans", "points" -> noSpan, noSpan -> "points", noPoint -> noSpan)
      } {
        val plan = assertSomeRows(query(joinType, l, r).replaceFirst("\\*", "count(*)"))
        assert(bounds(plan).nonEmpty)
      }
    )
  }

  test("without locality the intervals are broadcast, as if they were small") {
    for (joinType <- joinTypes.take(1); (l, r) <- sides) {
      val plan = assertSomeRows(query(joinType, l, r, "t BETWEEN lo - 5000 AND hi + 5000"))
      assert(bounds(plan).forall(_.metrics("bounds").value == 0))
      assert(broadcastJoins(plan).nonEmpty)
    }
  }

  test("bounds are the same for all parts of a join, also where nothing is reused") {
    withConf(
      "spark.sql.exchange.reuse" -> "false",
      "spark.sql.execution.reuseSubquery" -> "false"
    )(onEveryPath(_ => for (joinType <- joinTypes) assertByRanges(query(joinType))))
  }

  test("left as they are: small sides, sides under a hint, sides that may differ when read again") {
    def planned(sql: String) = {
      val plan = executed(spark.sql(sql))
      assert(bounds(plan).isEmpty, plan)
      plan
    }
    withConf(Settings.BroadcastMaxBytes.key -> "1m")(planned(query("JOIN")))
    planned(query("JOIN").replace("SELECT", "SELECT /*+ BROADCAST(spans) */"))
    planned(query("LEFT JOIN").replace("SELECT", "SELECT /*+ NO_THETA_JOIN */"))
    planned(query("LEFT JOIN", left = "(SELECT id, CAST(rand() * 1000 AS INT) AS t FROM points) p"))
    planned(query("LEFT JOIN", on = "t > lo"))
    withConf(Settings.acceleratorEnabled("interval").key -> "false")(planned(query("JOIN")))
    planned(s"SELECT input_file_name(), * FROM (${query("LEFT JOIN")})")
    val plan =
      planned(query("JOIN", left = "(SELECT id, CAST(rand() * 1000 AS INT) AS t FROM points) p"))
    assert(collect(plan) { case j: BlockThetaJoinExec => j }.size == 1)
  }

  test("a side counts as large by the partitions that are read") {
    spark.table("spans").withColumn("half", col("no") % 20 === 0).write.partitionBy("half")
      .mode("overwrite").saveAsTable("halves")
    try {
      val size = spark.sql("SELECT * FROM halves WHERE NOT half").queryExecution.optimizedPlan
        .stats.sizeInBytes
      val small = s"SELECT * FROM points JOIN halves ON half AND t BETWEEN lo AND hi"
      withConf(Settings.BroadcastMaxBytes.key -> s"${size / 2}b") {
        assert(bounds(executed(spark.sql(small))).isEmpty)
        assert(bounds(executed(spark.sql(small.replace("half AND", "NOT half AND")))).nonEmpty)
      }
    } finally spark.sql("DROP TABLE halves")
  }

  test("the intervals of a FULL join are shuffled once for both of its parts") {
    val plan = assertByRanges(query("FULL JOIN"))
    val reused = collect(plan) { case ReusedExchangeExec(_, shuffle: ShuffleExchangeLike) =>
      shuffle
    }
    assert(reused.size == 1, plan)
  }

  test("points are shuffled, and read once more for the few intervals that cross ranges") {
    val plan = assertByRanges(query("JOIN"))
    assert(broadcastJoins(plan).map(_.join.accelerator) == Seq("interval"))
    assert(shuffled(plan).map(_.join.accelerator) == Seq("interval"))
    assert(collect(plan) { case s: ShuffleExchangeLike => s }.size == 2)
    assert(bounds(plan).map(_.metrics("bounds").value).max > 8)
    val crossing = broadcastJoins(plan).head.metrics("indexRows").value
    assert(crossing > 0 && crossing < 100)
  }
}
