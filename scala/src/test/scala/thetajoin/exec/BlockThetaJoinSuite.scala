package thetajoin.exec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike
import org.apache.spark.sql.execution.{
  CoalescedPartitionSpec,
  PartialReducerPartitionSpec,
  SparkPlan
}

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.{Settings, SharedSession}

class BlockThetaJoinSuite extends AnyFunSuite with SharedSession {
  override protected def settings: Map[String, String] = Map(
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.shuffle.partitions" -> "4",
    Settings.BroadcastMaxBytes.key -> "1b",
    Settings.ShuffleMaxPartitionBytes.key -> "3k"
  )

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(0, 300, 1, 3).selectExpr(
      "id",
      "CAST(IF(id % 50 = 0, NULL, id * 7919 % 1000) AS INT) AS t",
      "id % 2 AS k",
      "repeat('a', CAST(id % 5 AS INT)) AS s"
    ).createOrReplaceTempView("points")
    spark.range(0, 200, 1, 2).selectExpr(
      "id AS no",
      "CAST(IF(id % 70 = 0, NULL, id * 104729 % 1000) AS INT) AS lo",
      "CAST(id * 31 % 1000 AS INT) AS hi",
      "IF(id % 90 = 0, NULL, id % 2) AS j"
    ).createOrReplaceTempView("spans")
  }

  private val joinTypes =
    Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")

  private def inBlocks(plan: SparkPlan): Seq[BlockThetaJoinExec] =
    thetaJoins(plan).collect { case join: BlockThetaJoinExec => join }

  /** The same rows with the extension on and off, joined in blocks of which there are some. */
  private def assertInBlocks(sql: String, least: Int = 2): Seq[BlockThetaJoinExec] = {
    val plan = assertSameRows(sql)
    val joins = inBlocks(plan)
    assert(joins.nonEmpty, plan)
    joins.foreach(join => assert(join.metrics("blocks").value >= least, join))
    joins
  }

  test("each block meets all rows, for every join type, either side first") {
    onEveryPath(_ =>
      for {
        joinType <- joinTypes
        (left, right) <- Seq("points" -> "spans", "spans" -> "points")
        on <- Seq("t < lo AND id < hi", "t = lo + 5 OR id = no")
      } assertInBlocks(s"SELECT * FROM $left $joinType $right ON $on")
    )
  }

  test("the rows of one key are more than a task should hold") {
    withConf(Settings.ShuffleMaxPartitionBytes.key -> "200b")(onEveryPath(_ =>
      for {
        joinType <- joinTypes.filterNot(_ == "FULL JOIN")
        (left, right) <- Seq("points" -> "spans", "spans" -> "points")
      } assertInBlocks(s"SELECT * FROM $left $joinType $right ON k = j AND t < lo")
    ))
  }

  test("the first matches of each block, and of these the first") {
    onEveryPath(_ =>
      for (joinType <- Seq("JOIN", "LEFT JOIN"); k <- Seq(1, 3, 1000))
        assertInBlocks(
          s"SELECT id, t, lo FROM points $joinType LATERAL (SELECT lo FROM spans WHERE lo <= t ORDER BY lo DESC LIMIT $k)"
        )
    )
  }

  test("Spark knows if the numbers of left rows depend on the order in which a shuffle is read") {
    def numbered(left: String): (Seq[Long], String) = {
      val sql =
        s"SELECT id, lo FROM $left JOIN LATERAL (SELECT lo FROM spans WHERE lo <= t ORDER BY lo DESC LIMIT 1)"
      val Seq(rows) =
        collect(executed(spark.sql(sql))) { case n: NumberedRowsExec => n }: @unchecked
      val rdd = rows.execute()
      val numbers = rdd.map(row => row.getLong(row.numFields - 1)).collect()
      val level = classOf[RDD[_]].getMethod("outputDeterministicLevel").invoke(rdd)
      (numbers.toSeq, level.toString)
    }
    withConf("spark.sql.adaptive.enabled" -> "false") {
      val (asRead, ofScan) = numbered("points")
      val (shuffled, ofShuffle) = numbered("(SELECT /*+ REPARTITION(4) */ id, t FROM points)")
      assert((ofScan, ofShuffle) == ("DETERMINATE", "INDETERMINATE"))
      assert(Seq(asRead, shuffled).forall(numbers => numbers.distinct.size == 300))
    }
  }

  test("rows that are all the same are cut where a task ended") {
    val same = "(SELECT 5 AS t FROM range(0, 3000, 1, 6)) a"
    val counted =
      s"SELECT count(*) FROM $same JOIN (SELECT 7 AS lo FROM range(0, 3000, 1, 4)) b ON t < lo"
    val joins = assertInBlocks(counted)
    assert(joins.head.metrics("indexRows").value == 3000)
  }

  test("a block is as small as the setting says, by what is written") {
    def blocks(bytes: String, joinType: String) =
      withConf(Settings.ShuffleMaxPartitionBytes.key -> bytes) {
        val sql = s"SELECT count(*) FROM points $joinType spans ON t < lo AND id <> no"
        assertInBlocks(sql, least = 1).head.metrics("blocks").value
      }
    assert(blocks("1m", "JOIN") == 1)
    assert(blocks("1m", "LEFT JOIN") == spark.sparkContext.defaultParallelism)
    assert(blocks("1k", "JOIN") > blocks("6k", "JOIN"))
  }

  test("partitions that Spark has arranged by the keys are not moved again") {
    val sql = "SELECT * FROM points JOIN spans ON k = j AND t < lo"
    for (adaptive <- Seq(true, false))
      withConf(
        "spark.sql.adaptive.enabled" -> adaptive.toString,
        "spark.sql.adaptive.coalescePartitions.enabled" -> "false",
        Settings.ShuffleMaxPartitionBytes.key -> (if (adaptive) "2k" else "200b")
      ) {
        val plan = assertSameRows(sql)
        val exchanges = collect(plan) { case s: ShuffleExchangeLike => s }
        assert(inBlocks(plan).size == 1 && exchanges.size == (if (adaptive) 2 else 0), plan)
      }
  }

  test("blocks are about equal, and no larger than they may be but by a part of a partition") {
    import Blocks.blocks
    val random = new scala.util.Random(7)
    for (_ <- 1 to 200) {
      val written = Array.fill(1 + random.nextInt(60))(random.nextInt(100).toLong)
      val (most, cores) = (1L + random.nextInt(400), 1 + random.nextInt(8))
      val found = blocks(written, most, cores)((partition, bytes) =>
        Some(Seq.tabulate(2)(PartialReducerPartitionSpec(partition, _, 2, bytes)))
      )
      val read = found.toSeq.flatMap {
        case CoalescedPartitionSpec(from, until, _) =>
          assert(until == from + 1 || written.slice(from, until).sum <= most + written.max)
          from until until
        case PartialReducerPartitionSpec(partition, 0, _, _) => Seq(partition)
        case _ => Nil
      }
      assert(read == written.indices)
      assert(found.length <= math.max(cores, written.sum / most + 2) + 3 * written.count(_ > most))
    }
    val counts = Seq((1, 8), (3, 8), (5, 8), (8, 8), (9, 8), (3, 2), (1, 1))
    assert(counts.map { case (needed, cores) =>
      Blocks.fewest(needed, mayCut = true, cores)
    } == Seq(1, 3, 8, 8, 16, 4, 1))
    assert(counts.map { case (needed, cores) =>
      Blocks.fewest(needed, mayCut = false, cores)
    } == Seq(8, 8, 8, 8, 16, 4, 1))
    assert(blocks(Array.empty, 1, 4)((_, _) => None).isEmpty)
    assert(blocks(Array.fill(64)(10L), 1000, 2)((_, _) => None).length == 2)
  }

  test("sides without rows, and without partitions") {
    for {
      joinType <- joinTypes
      none <- Seq("id < 0", "id IS NULL")
      empty =
        s"(SELECT * FROM (SELECT /*+ REPARTITION(3) */ * FROM points) WHERE $none AND rand() < 2)"
      sql <- Seq(
        s"SELECT * FROM $empty a $joinType spans ON t < lo AND id < hi",
        s"SELECT * FROM spans $joinType $empty a ON t < lo AND id < hi"
      )
    } {
      val expected = withConf(Settings.Enabled.key -> "false")(spark.sql(sql).count())
      assert(spark.sql(sql).count() == expected, sql)
    }
  }

  test("an error that a pair raises counts if its row has no match") {
    def ids(on: String) =
      s"SELECT id FROM points WHERE t < 900 AND EXISTS (SELECT 1 FROM spans WHERE t < lo AND $on)"
    withConf("spark.sql.ansi.enabled" -> "true") {
      val matched = spark.sql(ids("1 div (no - 3 + id - id) >= 0"))
      assert(matched.collect().length == spark.sql("SELECT * FROM points WHERE t < 900").count())
      assert(inBlocks(matched.queryExecution.executedPlan).nonEmpty)
      val raised = intercept[Exception](spark.sql(ids("1 div (no - 3 + id - id) > 5")).collect())
      assert(raised.getMessage.contains("DIVIDE_BY_ZERO"))
    }
  }
}
