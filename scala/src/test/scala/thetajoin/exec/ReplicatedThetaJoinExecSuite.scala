package thetajoin.exec

import java.io.RandomAccessFile
import java.nio.file.{Files, Path}

import scala.util.Using

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan, WholeStageCodegenExec}

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.driver.JoinMetrics
import thetajoin.{Settings, SharedSession}

final case class FailingRows(output: Seq[Attribute], failure: RuntimeException)
    extends LeafExecNode {
  override protected def doExecute(): RDD[InternalRow] = throw failure
}

/** A right side of small files is read where it is joined. */
class ReplicatedThetaJoinExecSuite extends AnyFunSuite with SharedSession {
  private lazy val directory: Path = Files.createTempDirectory("thetajoin")

  override def beforeAll(): Unit = {
    super.beforeAll()
    val columns = Seq(
      "id",
      "IF(id % 7 = 0, NULL, id % 50) k",
      "CAST(id % 13 AS INT) i",
      "concat('text-', id % 20) s",
      "element_at(array(NULL, double('NaN'), -0.0D, 0.0D, 1.5D, 2.5D), CAST(id % 6 AS INT) + 1) d",
      "id * 31 % 100 v"
    )
    def write(name: String, rows: Long, files: Int, from: Long = 0): Unit = {
      spark.range(from, from + rows, 1, files).selectExpr(columns: _*).write.parquet(pathOf(name))
      spark.read.parquet(pathOf(name)).createOrReplaceTempView(name)
    }
    write("probe", rows = 1000, files = 3)
    write("few", rows = 40, files = 2, from = 8)
    write("scattered", rows = 40, files = 5, from = 8)
    spark.table("few").union(spark.table("few")).coalesce(1).write.parquet(pathOf("twice"))
    spark.read.parquet(pathOf("twice")).createOrReplaceTempView("twice")
    spark.sql("SELECT * FROM few WHERE k IS NOT NULL").createOrReplaceTempView("known")
    spark.sql("SELECT * FROM few WHERE id < 0").createOrReplaceTempView("none")
  }

  private def pathOf(name: String): String = directory.resolve(name).toString

  private def replicated(plan: SparkPlan): Seq[ReplicatedThetaJoinExec] =
    thetaJoins(plan).collect { case j: ReplicatedThetaJoinExec => j }

  private def assertReplicated(sql: String): SparkPlan = {
    val plan = assertSame(sql, "existence")
    assert(replicated(plan).size == 1, plan)
    assert(collect(plan) { case e: BroadcastExchangeExec => e }.isEmpty, plan)
    plan
  }

  private def assertBroadcast(sql: String): Unit =
    assert(broadcastJoins(assertSame(sql, "existence")).size == 1, sql)

  private val exists = "SELECT * FROM probe p WHERE EXISTS (SELECT 1 FROM few f WHERE f.k = p.k)"

  test("the rows are Spark's, for every kind of keys") {
    val conditions = Seq(
      "f.k = p.k",
      "f.i = p.i AND f.id > 20",
      "f.s = p.s",
      "f.s = p.s AND f.i = p.i",
      "f.i + 1 = p.i",
      "f.k <=> p.k",
      "f.d = p.d AND f.id <> p.id",
      "f.d = p.d AND f.k = p.k",
      "f.k = p.k AND f.v > p.v",
      "f.s = p.s AND f.v < p.v",
      "f.i = p.i AND f.v <> p.v",
      "f.k = p.k AND p.v > 40"
    )
    onEveryPath { codegen =>
      for ((on, build) <- conditions.map(_ -> "few") ++ conditions.take(2).map(_ -> "none")) {
        val inner = s"SELECT 1 FROM $build f WHERE $on"
        for (
          test <- Seq(s"EXISTS ($inner)", s"NOT EXISTS ($inner)", s"EXISTS ($inner) OR p.id = 3")
        ) {
          val plan = assertReplicated(s"SELECT * FROM probe p WHERE $test")
          val stages = collect(plan) {
            case stage: WholeStageCodegenExec if replicated(stage).nonEmpty => stage
          }
          assert(stages.nonEmpty == codegen, plan)
        }
      }
      assertReplicated(
        "SELECT count(*), sum(id), max(s) FROM probe WHERE k IN (SELECT k FROM known)"
      )
      assertReplicated(
        "SELECT count(*) FROM probe LEFT ANTI JOIN few ON probe.k = few.k AND probe.i = few.i"
      )
      for (
        build <- Seq("few", "known", "none"); columns <- Seq(Seq("k", "s"), Seq("k", "d", "i"))
      ) {
        val (asked, among) = (columns.map("p." + _), columns.map("f." + _))
        val notIn =
          s"(${asked.mkString(", ")}) NOT IN (SELECT ${among.mkString(", ")} FROM $build f)"
        assertReplicated(s"SELECT * FROM probe p WHERE $notIn")
        assertReplicated(s"SELECT * FROM probe p WHERE $notIn OR p.id = 3")
      }
    }
  }

  test("it is read once in a JVM, however many tasks join") {
    val plan = assertReplicated(exists)
    val Seq(join) = replicated(plan): @unchecked
    assert(join.execute().getNumPartitions > 1)
    val keys = spark.sql("SELECT DISTINCT k FROM few WHERE k IS NOT NULL").count()
    assert(join.metrics(JoinMetrics.IndexRows).value == keys)
    assert(join.metrics(JoinMetrics.IndexBytes).value > 0)
    assert(join.metrics(JoinMetrics.OutputRows).value == spark.sql(exists).count())
    val again = spark.sql(exists)
    for (_ <- 1 to 2) {
      again.collect()
      val Seq(rerun) = replicated(again.queryExecution.executedPlan): @unchecked
      assert(rerun.metrics(JoinMetrics.IndexRows).value == keys)
    }
  }

  test("however often a key is in the files, it is taken once") {
    val conditions = Seq(
      ("f.k = p.k", "k", true),
      ("f.s = p.s", "s", false),
      ("f.s = p.s AND f.k = p.k", "s, k", false),
      ("f.k = p.k AND f.id > p.id", "k", true)
    )
    for ((on, keys, isToldApart) <- conditions) {
      val plan = assertReplicated(
        s"SELECT * FROM probe p WHERE EXISTS (SELECT 1 FROM twice f WHERE $on)"
      )
      assert(collect(plan) { case d: DistinctKeysExec => d }.nonEmpty == isToldApart, plan)
      val distinct = spark.sql(s"SELECT DISTINCT $keys FROM few").na.drop().count()
      assert(replicated(plan).head.metrics(JoinMetrics.IndexRows).value == distinct, on)
    }
    val plan = assertReplicated("SELECT * FROM probe WHERE (k, s) NOT IN (SELECT k, s FROM twice)")
    assert(collect(plan) { case d: DistinctKeysExec => d }.isEmpty, plan)
    val distinct = spark.sql("SELECT DISTINCT k, s FROM few").count()
    assert(replicated(plan).head.metrics(JoinMetrics.IndexRows).value == distinct)
  }

  test("below a broadcast join, and in all sides of a union") {
    val twice = s"$exists AND NOT EXISTS (SELECT 1 FROM known g WHERE g.i = p.i AND g.v > p.v)"
    onEveryPath { _ =>
      val plan = assertSame(twice, "existence", "existence")
      assert(replicated(plan).size == 1 && broadcastJoins(plan).size == 1, plan)
      val union = assertSame(s"$twice UNION ALL $exists", Seq.fill(3)("existence"): _*)
      assert(replicated(union).size == 2, union)
    }
  }

  test("it can be read as long as an RDD of the query is there") {
    val rdd = spark.sql(exists).queryExecution.toRdd.mapPartitions(rows => Iterator(rows.size))
    // Spark forgets what a query was read with once nothing refers to it.
    for (_ <- 1 to 5) {
      System.gc()
      Thread.sleep(200)
    }
    assert(rdd.collect().sum == spark.sql(exists).count())
  }

  test("rows keep their order, their partitions and the name of their file") {
    for (test <- Seq("EXISTS", "NOT EXISTS")) {
      onEveryPath { _ =>
        assertReplicated(
          s"SELECT input_file_name(), id FROM probe p WHERE $test (SELECT 1 FROM few f WHERE f.k = p.k)"
        )
      }
      val sql = s"SELECT * FROM probe p WHERE $test (SELECT 1 FROM few f WHERE f.k = p.k)"
      val Seq(join) = replicated(assertReplicated(sql)): @unchecked
      assert(join.outputPartitioning == join.left.outputPartitioning)
      assert(join.outputOrdering == join.left.outputOrdering)
    }
  }

  test("other sides are broadcast") {
    assertBroadcast(exists.replace("few", "scattered"))
    assertBroadcast(exists.replace("few f", "(SELECT id AS k FROM range(9)) f"))
    assertBroadcast(exists.replace("few f", "(SELECT k FROM few WHERE rand(7) < 0.5) f"))
    assertBroadcast(exists.replace("few f", "(SELECT DISTINCT k FROM few) f"))
    assertBroadcast(
      "SELECT /*+ BROADCAST(few) */ * FROM probe LEFT SEMI JOIN few ON probe.k = few.k"
    )
    val notIn = "SELECT * FROM probe p WHERE (p.k, p.i) NOT IN (SELECT k, i FROM few)"
    assertBroadcast(notIn.replace("few", "scattered"))
    assertBroadcast(notIn.replace("SELECT k", "SELECT /*+ BROADCAST(few) */ k"))
    for (limit <- Seq("0", "1b"))
      withConf(Settings.ReplicateMaxBuildBytes.key -> limit) {
        assertBroadcast(exists)
        assertBroadcast(notIn)
      }
    Files.createDirectory(Path.of(pathOf("empty")))
    spark.read.schema("k BIGINT").parquet(pathOf("empty")).createOrReplaceTempView("empty")
    withConf(Settings.ReplicateMaxBuildBytes.key -> "0") {
      val plan = spark.sql(exists.replace("few", "empty")).queryExecution.sparkPlan
      assert(broadcastJoins(plan).size == 1, plan)
    }
    // Its small partitions are merged only where a stage reads nothing else.
    assertBroadcast(exists.replace(
      "probe p",
      "(SELECT max(k) AS k FROM probe GROUP BY id % 100) p"
    ))
    // A residual needs the rows of a key.
    assertBroadcast(notIn.replace("FROM few", "FROM few WHERE (v + p.v) % 3 = 1"))
    assertBroadcast(exists.replace("f.k = p.k", "f.k = p.k AND (f.v + p.v) % 3 = 1"))
  }

  test("the left side is not large") {
    val path = pathOf("large.csv")
    for (tooLong <- Seq(0L, 1L)) {
      Using.resource(new RandomAccessFile(path, "rw"))(_.setLength((128L << 20) + tooLong))
      spark.read.schema("id BIGINT, k BIGINT").csv(path).createOrReplaceTempView("large")
      val plan = spark.sql(exists.replace("probe", "large")).queryExecution.sparkPlan
      assert(replicated(plan).size == 1 - tooLong, plan)
      assert(broadcastJoins(plan).size == tooLong, plan)
    }
  }

  test("a file that is gone is the query's error") {
    val path = pathOf("gone")
    spark.range(5).toDF("k").write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("gone")
    val query = spark.sql(exists.replace("few", "gone"))
    assert(replicated(query.queryExecution.sparkPlan).size == 1)
    Files.list(Path.of(path)).forEach(file => Files.delete(file))
    assert(intercept[Exception](query.collect()).toString.contains("gone"))
  }

  test("what fails in the driver while the right side's rows are made is raised as it is") {
    val failure = new IllegalStateException("no rows")
    val Seq(join) = replicated(spark.sql(exists).queryExecution.sparkPlan): @unchecked
    val failing = join.copy(right = FailingRows(join.right.output, failure))
    assert(intercept[IllegalStateException](failing.execute()) eq failure)
  }

  test("a thread without a session can run the query") {
    val query = spark.sql(exists)
    assert(countWithoutSession(query) == spark.sql(exists).count())
  }

  test(
    "what is done with a probe row is small enough for the JIT to take it into the loop over them"
  ) {
    for (
      exists <- Seq("EXISTS", "NOT EXISTS"); keys <- Seq("f.i = p.i", "f.i = p.i AND f.v > p.v")
    ) {
      val sql =
        s"SELECT count(*), sum(v) FROM probe p WHERE $exists (SELECT 1 FROM few f WHERE $keys)"
      val plan = assertReplicated(sql)
      val stages = collect(plan) { case s: WholeStageCodegenExec => s }
        .filter(_.child.isInstanceOf[PairAggregateExec])
      assert(stages.size == 1, plan)
      val sizes = stages.map(s => CodeGenerator.compile(s.doCodeGen()._2)._2.maxMethodCodeSize)
      // The loop itself is taken into nothing.
      val isApart = stages.head.doCodeGen()._2.body.contains("replicatedthetajoin_doConsume")
      assert(isApart == keys.contains("v") && (!isApart || sizes.head <= FreqInlineSize), sizes)
    }
  }

  /** In bytes, on all platforms of the JDK's server compiler but one (PPC64). */
  private val FreqInlineSize = 325
}
