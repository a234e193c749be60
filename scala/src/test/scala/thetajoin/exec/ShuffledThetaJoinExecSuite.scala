package thetajoin.exec

import java.util.concurrent.atomic.LongAdder

import scala.concurrent.duration._

import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike
import org.apache.spark.sql.execution.joins.{ShuffledJoin, SortMergeJoinExec}

import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite

import thetajoin.{Settings, SharedSession}

class ShuffledThetaJoinExecSuite extends AnyFunSuite with SharedSession {
  override protected def settings: Map[String, String] = Map(
    "spark.sql.warehouse.dir" -> "target/warehouse",
    "spark.sql.autoBroadcastJoinThreshold" -> "1b",
    "spark.sql.shuffle.partitions" -> "5",
    "spark.unsafe.exceptionOnMemoryLeak" -> "true"
  )

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    // Two thirds of the points have one key.
    spark.range(0, 30000, 1, 6).selectExpr(
      "id",
      "IF(id % 3 = 0, id % 100, 7) AS k",
      "id * 7919 % 100000 AS t"
    ).createOrReplaceTempView("points")
    spark.range(0, 2000, 1, 3).selectExpr(
      "id AS no",
      "IF(id % 4 = 0, 7, id % 120) AS k",
      "id * 104729 % 100000 AS lo",
      "id * 104729 % 100000 + id % 50 AS hi"
    ).createOrReplaceTempView("spans")
  }

  private val types = Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")

  private def query(joinType: String, left: String = "points", right: String = "spans") =
    s"SELECT count(*), count(id), count(no), sum(id), sum(no) FROM $left p $joinType $right s " +
      "ON p.k = s.k AND t BETWEEN lo AND hi"

  private def joins(plan: SparkPlan): Seq[ShuffledThetaJoinExec] =
    thetaJoins(plan).collect { case j: ShuffledThetaJoinExec => j }

  private def shuffles(plan: SparkPlan): Int =
    collect(plan) { case s: ShuffleExchangeLike => s }.size

  test("the rows are Spark's on every path, for either side built") {
    onEveryPath { _ =>
      for (joinType <- types; (l, r) <- Seq(("points", "spans"), ("spans", "points"))) {
        val plan = assertSame(query(joinType, l, r), "interval")
        assert(joins(plan).size == 1, s"$joinType $l $r")
      }
    }
  }

  test("the index of all partitions holds each build row once, and is asked for candidates") {
    onEveryPath { _ =>
      val Seq(join) = joins(executed(spark.sql(query("JOIN")))): @unchecked
      assert(join.metrics("indexRows").value == 2000)
      assert(join.metrics("candidates").value == join.metrics("matches").value)
      assert(join.metrics("matches").value > 0)
    }
  }

  test("boxes of each partition are found by all comparisons") {
    // Keys of two partitions: the boxes of one are narrow in x, those of the other in y.
    val partition = spark.sql("SELECT CAST(pmod(hash(id), 5) AS INT) FROM range(2, 4)").collect()
    assert(partition.map(_.getInt(0)).distinct.length == 2)
    spark.sql("SELECT id, id % 2 + 2 AS k, id * 7919 % 10000 AS x, id DIV 2 AS y FROM range(20000)")
      .createOrReplaceTempView("places")
    spark.range(400).selectExpr(
      "id AS no",
      "id % 2 + 2 AS k",
      "IF(id % 2 = 0, id * 20, 0) AS x1",
      "IF(id % 2 = 0, id * 20 + 9, 10000) AS x2",
      "IF(id % 2 = 1, id * 20, 0) AS y1",
      "IF(id % 2 = 1, id * 20 + 9, 10000) AS y2"
    ).createOrReplaceTempView("boxes")
    withConf("spark.sql.adaptive.coalescePartitions.enabled" -> "false") {
      onEveryPath { _ =>
        for (joinType <- Seq("JOIN", "LEFT JOIN")) {
          val plan = assertSame(
            s"SELECT count(*), count(id), count(no), sum(id), sum(no) FROM places p $joinType boxes b " +
              "ON p.k = b.k AND x BETWEEN x1 AND x2 AND y BETWEEN y1 AND y2",
            "boxes"
          )
          val Seq(join) = joins(plan): @unchecked
          assert(join.metrics("matches").value > 0)
          assert(join.metrics("candidates").value == join.metrics("matches").value, joinType)
        }
      }
    }
  }

  test("Spark is told of the memory that indexes take") {
    val peaks = new LongAdder
    val listener = new SparkListener {
      override def onTaskEnd(task: SparkListenerTaskEnd): Unit =
        if (task.taskMetrics.shuffleReadMetrics.recordsRead > 0)
          peaks.add(task.taskMetrics.peakExecutionMemory)
    }
    spark.sparkContext.addSparkListener(listener)
    try {
      val Seq(join) = joins(executed(spark.sql(query("JOIN")))): @unchecked
      val bytes = join.metrics("indexBytes").value
      assert(bytes > 0)
      eventually(timeout(10.seconds))(assert(peaks.sum >= bytes))
    } finally spark.sparkContext.removeSparkListener(listener)
  }

  test("adaptive execution splits the partition of a frequent key on the side that it may") {
    withConf(
      "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> "20k",
      "spark.sql.adaptive.skewJoin.skewedPartitionFactor" -> "2",
      "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "20k"
    ) {
      for ((joinType, splits) <- Seq("JOIN" -> true, "LEFT JOIN" -> true, "RIGHT JOIN" -> false)) {
        val plan = assertSame(query(joinType), "interval")
        val Seq(join) = joins(plan): @unchecked
        assert(join.isSkewJoin == splits, joinType)
        assert(join.execute().getNumPartitions > 5 == splits, joinType)
        assert(join.treeString.contains("skew=true") == splits)
      }
    }
  }

  test("what is equal above equal joins runs once") {
    val other = query("JOIN").replace("BETWEEN lo AND hi", "> lo AND t < hi")
    for (adaptive <- Seq("true", "false"))
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        for (joinType <- types) {
          val sql = query(joinType)
          assert(joins(assertSame(s"$sql UNION ALL $sql", "interval")).size == 1, joinType)
        }
        val plan = assertSame(s"${query("JOIN")} UNION ALL $other", "interval", "interval")
        assert(joins(plan).size == 2)
      }
  }

  test("small partitions are merged") {
    withConf("spark.sql.adaptive.coalescePartitions.parallelismFirst" -> "false") {
      val Seq(join) = joins(assertSame(query("FULL JOIN"), "interval")): @unchecked
      assert(join.execute().getNumPartitions == 1)
    }
  }

  test("a side that turns out to be small is broadcast") {
    withConf("spark.sql.adaptive.autoBroadcastJoinThreshold" -> "10m") {
      val plan = assertSame(query("JOIN"), "interval")
      assert(broadcastJoins(plan).size == 1)
    }
  }

  test("partitions that turn out to be too large are joined in blocks") {
    val limit = Settings.ShuffleMaxPartitionBytes.key
    // By estimate a partition of spans has 8 KB; that of the frequent key has more, and so have all together.
    for (merges <- Seq("true", "false"))
      withConf(limit -> "20k", "spark.sql.adaptive.coalescePartitions.enabled" -> merges) {
        assert(joins(spark.sql(query("JOIN")).queryExecution.executedPlan).size == 1)
        assert(inBlocks(assertSame(query("JOIN"), "interval")) == 1)
        val full = assertSame(query("FULL JOIN"))
        assert(collect(full) { case j: SortMergeJoinExec => j }.size == 1)
      }
    withConf(limit -> "7k", "spark.sql.adaptive.enabled" -> "false")(
      assert(inBlocks(assertSame(query("JOIN"), "interval")) == 1)
    )
  }

  test("small partitions are not taken for large while the other side is not written yet") {
    // All spans together are above the limit, and what adaptive execution merges of both sides is not.
    val points = "(SELECT k, t, max(id) AS id FROM points GROUP BY k, t)"
    val spans = "(SELECT no, no % 120 AS k, lo, hi FROM spans)"
    withConf(
      Settings.ShuffleMaxPartitionBytes.key -> "50k",
      "spark.sql.adaptive.coalescePartitions.parallelismFirst" -> "false",
      "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "30k"
    )(assert(joins(assertSame(query("LEFT JOIN", points, spans), "interval")).size == 1))
  }

  private def inBlocks(plan: SparkPlan): Int =
    collect(plan) { case j: BlockThetaJoinExec => j }.size

  test("buckets that are too large are joined in blocks") {
    spark.table("spans").write.bucketBy(2, "k").mode("overwrite").saveAsTable("few_spans")
    try
      withConf(
        Settings.ShuffleMaxPartitionBytes.key -> "5k",
        "spark.sql.shuffle.partitions" -> "500"
      )(assert(inBlocks(assertSame(query("JOIN", right = "few_spans"), "interval")) == 1))
    finally spark.sql("DROP TABLE few_spans")
  }

  test("EXPLAIN shows the join before it has run") {
    onEveryPath { _ =>
      val plan = spark.sql(query("LEFT JOIN")).queryExecution.executedPlan
      assert(joins(plan).size == 1)
      assert(plan.treeString.contains("ShuffledThetaJoin interval, LeftOuter, BuildRight"))
    }
  }

  test("partitions that are there already are taken as they are") {
    for (t <- Seq("points", "spans"))
      spark.table(t).write.bucketBy(4, "k").mode("overwrite").saveAsTable(s"bucketed_$t")
    try
      onEveryPath { _ =>
        for (joinType <- types) {
          val plan = assertSame(query(joinType, "bucketed_points", "bucketed_spans"), "interval")
          assert(joins(plan).size == 1)
          // The aggregate's.
          assert(shuffles(plan) == 1, plan)
        }
        val twice = "SELECT count(*), sum(id), sum(x.no), sum(y.no) FROM points p " +
          "JOIN spans x ON p.k = x.k AND t BETWEEN x.lo AND x.hi " +
          "JOIN spans y ON p.k = y.k AND t BETWEEN y.lo AND y.hi"
        val plan = assertSame(twice, "interval", "interval")
        assert(joins(plan).size == 2)
        assert(collect(plan) { case j: ShuffledJoin => j }.size == 2)
        assert(shuffles(plan) <= 4, plan)
      }
    finally
      for (t <- Seq("points", "spans")) spark.sql(s"DROP TABLE bucketed_$t")
  }

  test("the order of the probe side is kept") {
    val sql =
      "SELECT /*+ MERGE(q) */ count(*), sum(id), sum(no) FROM (SELECT p.id, p.k, s.no FROM " +
        "points p LEFT JOIN spans s ON p.k = s.k AND t BETWEEN lo AND hi) r JOIN (SELECT k AS l, " +
        "max(id) AS m FROM points GROUP BY k) q ON r.k = q.l"
    onEveryPath(_ => assert(joins(assertSame(sql, "interval")).size == 1))
  }

  test("a thread without a session can run the query") {
    val query = spark.sql("SELECT id FROM points p JOIN spans s ON p.k = s.k AND t > lo AND t < hi")
    assert(countWithoutSession(query) == query.count())
  }
}
