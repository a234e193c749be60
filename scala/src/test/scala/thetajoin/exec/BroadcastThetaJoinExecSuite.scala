package thetajoin.exec

import java.nio.file.Files

import org.apache.spark.ShuffleDependency
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection}
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, SortMergeJoinExec}
import org.apache.spark.sql.execution.{RangeExec, SparkPlan, WholeStageCodegenExec}
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.accelerator.Found
import thetajoin.accelerator.existence.ExistenceSpec
import thetajoin.driver.probe.ProbeBatch
import thetajoin.driver.{JoinMetrics, ProbeRepartition}
import thetajoin.relation.ThetaRelation
import thetajoin.stage.PairAggregateExec
import thetajoin.{Settings, SharedSession}

/** How the node behaves as a part of Spark's plans. */
class BroadcastThetaJoinExecSuite extends AnyFunSuite with SharedSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(0, 100, 1, 3).selectExpr("id v", "id % 7 w", "id k").createOrReplaceTempView("a")
    spark.range(0, 50, 1, 2).selectExpr("id * 2 v", "id k").createOrReplaceTempView("b")
  }

  private val join = "SELECT a.v, b.v u FROM a JOIN b ON a.v > b.v"

  private def generated(plan: SparkPlan): String =
    collectWithSubqueries(plan) { case stage: WholeStageCodegenExec => stage.doCodeGen()._2.body }
      .mkString

  test("a copy with other expressions keeps our fields, and equal plans have equal results") {
    val node = thetaJoins(executed(spark.sql(join))).head
    val again = thetaJoins(executed(spark.sql(join))).head
    assert(node.productArity == 7 && node.productIterator.size == 7)
    val same = node.mapExpressions(identity)
    assert(same == node && same.getClass == node.getClass)
    assert(node.sameResult(again) && node.canonicalized == again.canonicalized)
    val other = thetaJoins(executed(spark.sql(join.replace(">", "<")))).head
    assert(!node.sameResult(other))
  }

  test("off gives Spark's own plan") {
    withConf(Settings.Enabled.key -> "false") {
      val plan = executed(spark.sql(join))
      assert(thetaJoins(plan).isEmpty && plan.toString.contains("BroadcastNestedLoopJoin"))
    }
  }

  test("a join beside ours still turns from sort-merge to broadcast") {
    val sql =
      """SELECT a.v, c.u FROM a JOIN (SELECT k, v u FROM b WHERE substring(cast(v AS string), 1, 1) = '4') c ON a.k = c.k
        |JOIN b d ON a.v > d.v""".stripMargin
    withConf(
      "spark.sql.autoBroadcastJoinThreshold" -> "-1",
      "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "10MB"
    ) {
      val plan = executed(spark.sql(sql))
      assert(thetaJoins(plan).size == 1)
      assert(collect(plan) { case j: BroadcastHashJoinExec => j }.size == 1)
      assert(collect(plan) { case j: SortMergeJoinExec => j }.isEmpty)
      assertSame(sql, "piecewise")
    }
  }

  test("equal joins share one broadcast") {
    val sql = s"SELECT * FROM ($join) UNION ALL SELECT * FROM ($join)"
    Seq("true", "false").foreach { adaptive =>
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        val plan = executed(spark.sql(sql))
        assert(thetaJoins(plan).size == 2)
        assert(collect(plan) { case r: ReusedExchangeExec => r }.size == 1, plan)
        assertSame(sql, "piecewise", "piecewise")
      }
    }
  }

  test("what is equal above equal joins runs once") {
    val counts = "SELECT count(*), sum(a.v) FROM a JOIN b ON a.v > b.v"
    val groups = "SELECT a.w, count(*) FROM a JOIN b ON a.v > b.v GROUP BY a.w"
    Seq("true", "false").foreach { adaptive =>
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        for (sql <- Seq(counts, groups)) {
          val plan = assertSame(s"$sql UNION ALL $sql", "piecewise")
          assert(collect(plan) { case r: ReusedExchangeExec => r }.size == 1, plan)
        }
        val other = counts.replace(">", "<")
        assertSame(s"$counts UNION ALL $other", "piecewise", "piecewise")
      }
    }
  }

  test("one partition of probe rows is worked on by all cores") {
    spark.range(0, 2000, 1, 1).createOrReplaceTempView("one")
    withConf("spark.sql.adaptive.enabled" -> "false") {
      val query = spark.sql("SELECT x.id, y.id u FROM one x JOIN one y ON (x.id + y.id) % 10 = 0")
      assert(
        thetaJoins(query.queryExecution.executedPlan).map(_.join.accelerator) == Seq("nestedloop")
      )
      assert(query.rdd.getNumPartitions == spark.sparkContext.defaultParallelism)
      assertSame(
        "SELECT count(*), sum(x.id * y.id) FROM one x JOIN one y ON (x.id + y.id) % 10 = 0",
        "nestedloop"
      )
    }
  }

  test("rows that are repartitioned or appended are promised no place") {
    spark.range(0, 2000, 1, 1).createOrReplaceTempView("one")
    assertSame(
      "SELECT x.id, count(*) FROM one x JOIN one y ON (x.id + y.id) % 500 = 0 GROUP BY x.id",
      "nestedloop"
    )
    assertSame(
      "SELECT count(*) FROM (SELECT DISTINCT x.id FROM one x FULL JOIN b ON x.id < b.v)",
      "piecewise"
    )
  }

  test("metrics count candidates, matches and rows") {
    def metrics(sql: String, codegen: Boolean) =
      withConf("spark.sql.codegen.wholeStage" -> codegen.toString) {
        val node = thetaJoins(executed(spark.sql(sql))).head
        node.metrics.map { case (key, metric) => key -> metric.value }
      }
    val pairs = (0 until 100).map(v => (0 until 50).count(_ * 2 < v)).sum.toLong
    Seq(true, false).foreach { codegen =>
      val inner = metrics(join, codegen)
      assert(inner(JoinMetrics.CandidateRows) == pairs && inner(JoinMetrics.Matches) == pairs)
      assert(inner(JoinMetrics.OutputRows) == pairs && inner(JoinMetrics.IndexRows) == 50)
      assert(inner(JoinMetrics.IndexBytes) > 0 && inner(JoinMetrics.ProbeTime) > 0)
      val full =
        metrics("SELECT * FROM a FULL JOIN b ON a.v > b.v AND (a.v + b.v) % 2 = 5", codegen)
      assert(full(JoinMetrics.CandidateRows) == pairs && full(JoinMetrics.Matches) == 0)
      assert(full(JoinMetrics.OutputRows) == 150)
      val semi = metrics("SELECT * FROM a LEFT SEMI JOIN b ON a.v > b.v", codegen)
      assert(semi(JoinMetrics.CandidateRows) == 99 && semi(JoinMetrics.OutputRows) == 99)
      assert(semi(JoinMetrics.IndexRows) == 1)
    }
  }

  test("an error of a pair waits until its row has no match") {
    spark.sql("SELECT * FROM VALUES (5), (7), (3) AS t(x)").createOrReplaceTempView("l")
    spark.sql("SELECT * FROM VALUES (5), (3), (2), (7) AS t(y)").createOrReplaceTempView("r")
    def onPair(limit: Int) = s"6 / (x - y) > $limit"
    val all = Set(5, 7, 3)
    val joins = Seq[(Int => String, Set[Int])](
      (limit => s"SELECT /*+ BROADCAST(l) */ x FROM l LEFT SEMI JOIN r ON ${onPair(limit)}", all),
      (limit => s"SELECT x FROM l LEFT SEMI JOIN r ON ${onPair(limit)}", all),
      (limit => s"SELECT /*+ BROADCAST(l) */ x FROM l LEFT ANTI JOIN r ON ${onPair(limit)}", Set()),
      (limit => s"SELECT x FROM l LEFT ANTI JOIN r ON ${onPair(limit)}", Set()),
      (
        limit =>
          s"SELECT x FROM l WHERE EXISTS (SELECT 1 FROM r WHERE ${onPair(limit)}) OR x = 100",
        all
      )
    )
    for {
      (sql, expected) <- joins
      codegen <- Seq("true", "false")
    } withConf("spark.sql.codegen.wholeStage" -> codegen, "spark.sql.ansi.enabled" -> "true") {
      def rows(limit: Int) = {
        val query = spark.sql(sql(limit))
        assert(thetaJoins(executed(query)).map(_.join.accelerator) == Seq("nestedloop"))
        query.collect().map(_.getInt(0)).toSet
      }
      assert(rows(limit = 1) == expected, sql(1))
      val error = intercept[Exception](rows(limit = 4))
      assert(Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null)
        .exists(e => e.getMessage.contains("DIVIDE_BY_ZERO")))
    }
  }

  test("a task sends each key once") {
    val numbers = spark.range(0, 1000, 1, 2).selectExpr("id", "id % 10 x", "concat('k', id % 10) s")
    numbers.createOrReplaceTempView("repeated")
    val equal = Seq("a.w = x", "concat('k', a.w) = s")
    // The first row of a key has the least id.
    for (condition <- equal ++ equal.map(_ + " AND a.v > id"))
      onEveryPath { _ =>
        val sql = s"SELECT * FROM a LEFT SEMI JOIN repeated ON $condition"
        val plan = assertSame(sql, "existence")
        val sent = collect(plan) { case d: SieveExec => d.metrics("numOutputRows").value }
        assert(sent == Seq(20), s"$condition\n$plan")
        assert(thetaJoins(plan).map(_.metrics(JoinMetrics.IndexRows).value) == Seq(10))
      }
  }

  test("keys are sent once only while that pays") {
    def sent(keys: Iterator[Long]) = {
      val seen = ExistenceSpec(distinct = true).newSeenKeys(Seq(LongType))
      keys.count(seen.isNew)
    }
    val many = 1 << 20
    assert(sent(Iterator.range(0, 3000000).map(_ % 1000000L)) == 1000000)
    assert(sent(Iterator.range(0, 3 * many).map(_.toLong % many)) > many)
    val twice = sent(Iterator.range(0, 4 * many).map(_ / 2L))
    assert(twice >= 2 * many && twice < 2 * many + 10)
    assert(sent(Iterator.range(0, 2 * many).map(_.toLong) ++ Iterator(1L)) == 2 * many + 1)
    val texts = ExistenceSpec(distinct = true).newSeenKeys(Seq(StringType))
    val toRow = UnsafeProjection.create(Array[DataType](StringType))
    val long = (0 until 20000).map(i => InternalRow(UTF8String.fromString(s"$i" * 400)))
    assert((long ++ long).count(row => texts.isNew(toRow(row))) > long.size)
  }

  test("a preserved build side is marked in the probe side's stage, and reading ends early") {
    spark.range(0, 100000, 1, 2).selectExpr("id & 127 AS x").createOrReplaceTempView("long")
    for (join <- Seq("LEFT SEMI", "LEFT ANTI")) onEveryPath { codegen =>
      val sql = s"SELECT /*+ BROADCAST(a) */ * FROM a $join JOIN long ON a.v = x"
      val plan = assertSame(sql, "existence")
      val marks = collect(plan) { case m: MarkRowsExec => m }
      assert(marks.size == (if (codegen) 1 else 0), plan)
      val read =
        marks.flatMap(m => collect(m) { case r: RangeExec => r.metrics("numOutputRows").value })
      assert(read.forall(_ < 100000), s"$read\n$plan")
    }
  }

  test("rows that are read twice are kept by a shuffle, but for those of a scan of columns") {
    // Of pairs and build rows without a match, pairs are the first.
    def shuffles(rdd: RDD[_]): Boolean = rdd.dependencies.headOption.exists { dependency =>
      dependency.isInstanceOf[ShuffleDependency[_, _, _]] || shuffles(dependency.rdd)
    }
    spark.range(0, 3000, 1, 3).selectExpr("id", "CAST(id AS STRING) AS s")
      .createOrReplaceTempView("rows")
    val path = Files.createTempDirectory("thetajoin")
    spark.table("rows").write.parquet(s"$path/columns")
    spark.table("rows").write.json(s"$path/lines")
    val keptOf = Seq(
      "rows" -> false,
      s"parquet.`$path/columns`" -> false,
      s"json.`$path/lines`" -> true,
      "(SELECT * FROM rows WHERE s LIKE '%1%')" -> true,
      "(SELECT id, CAST(s AS INT) AS n FROM rows)" -> true
    )
    for ((probe, isKept) <- keptOf) {
      def on(join: String) =
        s"SELECT /*+ BROADCAST(b) */ p.*, b.v FROM $probe p $join b ON p.id < b.v"
      for (join <- Seq("FULL JOIN", "RIGHT JOIN")) {
        val Seq(node) = broadcastJoins(assertSame(on(join), "piecewise")): @unchecked
        assert(shuffles(node.execute()) == isKept, s"$probe $join")
      }
      val Seq(once) = broadcastJoins(assertSame(on("LEFT JOIN"), "piecewise")): @unchecked
      assert(!shuffles(once.execute()), probe)
    }
    for (setting <- Seq("ignoreMissingFiles", "ignoreCorruptFiles"))
      withConf(s"spark.sql.files.$setting" -> "true") {
        val sql =
          s"SELECT /*+ BROADCAST(b) */ p.*, b.v FROM parquet.`$path/columns` p FULL JOIN b ON p.id < b.v"
        val Seq(node) = broadcastJoins(assertSame(sql, "piecewise")): @unchecked
        assert(shuffles(node.execute()), setting)
      }
  }

  test("a probe row's matches are never held together") {
    // One probe row with 20 million matches: held together they would take over 600 MB.
    spark.range(0, 20000000, 1, 1).createOrReplaceTempView("many")
    val query = spark.sql(
      "SELECT /*+ BROADCAST(m) */ o.id, m.id u FROM range(20000000, 20000001) o JOIN many m ON o.id > m.id"
    )
    assert(query.queryExecution.executedPlan.toString.contains("BroadcastThetaJoin"))
    val first = query.queryExecution.toRdd.mapPartitions(_.take(5).map(_.getLong(1))).collect()
    assert(first.length == 5)
  }

  test("an aggregate without keys takes rows in the join's loop") {
    def aggregates(plan: SparkPlan) = collect(plan) { case p: PairAggregateExec => p }
    def assertNone(sql: String) = {
      val plan = executed(spark.sql(sql))
      assert(thetaJoins(plan).size == 1)
      assert(aggregates(plan).isEmpty)
    }
    val sums = "count(*), sum(a.v), sum(b.v)"
    Seq("true", "false").foreach { adaptive =>
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        for (kind <- Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")) {
          val sql = s"SELECT $sums FROM a $kind b ON a.v > b.v"
          val taken = aggregates(assertSame(sql, "piecewise"))
          assert(taken.size == 1)
          assert(taken.forall(_.metrics("numOutputRows").value > 0))
        }
        for (
          kind <- Seq("SEMI", "ANTI");
          on <- Seq("a.v > b.v" -> "piecewise", "a.w = b.v" -> "existence")
        ) {
          val sql = s"SELECT count(*), sum(a.v), max(a.w) FROM a LEFT $kind JOIN b ON ${on._1}"
          val Seq(taken) = aggregates(assertSame(sql, on._2)): @unchecked
          assert(taken.metrics("numOutputRows").value > 0)
        }
        assertNone(s"SELECT a.w, $sums FROM a JOIN b ON a.v > b.v GROUP BY a.w")
        assertNone("SELECT sum(DISTINCT a.v) FROM a JOIN b ON a.v > b.v")
        withConf("spark.sql.codegen.wholeStage" -> "false") {
          assertNone(s"SELECT $sums FROM a JOIN b ON a.v > b.v")
        }
      }
    }
  }

  test("few probe rows with many candidates are dealt out evenly") {
    spark.range(0, 40000, 1, 2).createOrReplaceTempView("ordered")
    val sql = "SELECT count(*) FROM ordered x JOIN ordered y ON x.id > y.id"
    assert(
      broadcastJoins(executed(spark.sql(sql))).map(_.repartition) == Seq(ProbeRepartition.Always)
    )
    assert(
      broadcastJoins(executed(spark.sql(join))).map(_.repartition) == Seq(ProbeRepartition.Never)
    )
    assert(spark.sql(sql).head().getLong(0) == 40000L * 39999 / 2)
  }

  test(
    "probe rows that are multiplied with many build rows are dealt out unless partitions are many"
  ) {
    def vectors(rows: String, name: String) =
      spark.sql(s"SELECT id AS $name, array(float(cos(id)), float(sin(id))) AS v FROM $rows")
    vectors("range(0, 30000, 1, 2)", "no").createOrReplaceTempView("many")
    val value = "vector_l2_distance(few.v, many.v)"
    def filled(partitions: Int, buildRows: Int): Int = {
      // All rows are in the first partition.
      val rows = s"range(0, ${64 * partitions}, 1, $partitions) WHERE id < 64"
      vectors(rows, "id").createOrReplaceTempView("few")
      val joined = spark.sql(
        s"SELECT id, no FROM few JOIN LATERAL (SELECT no, $value AS d FROM many WHERE no < $buildRows AND $value IS NOT NULL ORDER BY d LIMIT 1)"
      )
      val Seq(join) = broadcastJoins(executed(joined)): @unchecked
      assert(join.join.accelerator == "vector" && join.repartition.isInstanceOf[
        ProbeRepartition.FromBuildRows
      ])
      assert(joined.collect().forall(row => row.getLong(0) == row.getLong(1)))
      joined.rdd.mapPartitions(rows => Iterator(rows.size)).collect().count(_ > 0)
    }
    val cores = spark.sparkContext.defaultParallelism
    assert(filled(2 * cores, 30000) > 1)
    assert(filled(2 * cores, 10000) == 1)
    assert(filled(20 * cores, 30000) == 1)
  }

  test("probe rows come in sorted batches where that pays") {
    spark.sql(
      "SELECT id, IF(id % 19 = 0, NULL, id % 300) AS k, id * 7919 % 20000 AS v, repeat('s', CAST(id % 5 AS INT)) AS s FROM range(0, 28000, 1, 2)"
    ).createOrReplaceTempView("points")
    spark.sql(
      "SELECT id AS no, id % 310 AS l, id * 104729 % 20000 AS lo, id * 104729 % 20000 + id % 500 AS hi, id * 104729 % 20000 + id % 6 AS near FROM range(0, 14000, 1, 2)"
    ).createOrReplaceTempView("spans")
    val directory = Files.createTempDirectory("points")
    spark.table("points").write.mode("overwrite").parquet(directory.toString)
    spark.read.parquet(directory.toString).createOrReplaceTempView("filed")
    val ofGroup = Seq(
      "k = l AND v BETWEEN lo AND hi",
      "k = l AND v BETWEEN lo AND hi AND id % 7 <> no % 7 AND s <> repeat('s', CAST(no % 5 AS INT))"
    )
    val others = Seq(
      "v >= lo AND v < near AND id % 7 <> no % 7",
      "v + 19400 <= lo AND id <= no",
      "lo BETWEEN v - 3 AND v + 3"
    )
    val sums = "count(*), sum(id), sum(no), sum(length(s)), count(DISTINCT s)"
    def queries(on: String): Seq[String] =
      Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN").map { kind =>
        s"SELECT /*+ BROADCAST(spans) */ $sums FROM points $kind spans ON $on"
      } ++ Seq(
        s"SELECT $sums FROM filed JOIN spans ON $on",
        s"SELECT s, count(*), sum(no) FROM filed LEFT JOIN spans ON $on GROUP BY s",
        s"SELECT count(*) FROM (SELECT * FROM filed JOIN spans ON $on LIMIT 14000)"
      )
    def existence(on: String): Seq[String] = Seq("SEMI", "ANTI").map { kind =>
      s"SELECT count(*), sum(id), sum(length(s)) FROM points LEFT $kind JOIN spans ON $on"
    }
    def assertSorts(query: DataFrame): Unit = {
      assert(
        broadcastJoins(query.queryExecution.executedPlan).map(_.sortsProbe) == Seq(true),
        query.queryExecution.executedPlan
      )
      assert(
        generated(query.queryExecution.executedPlan).contains(classOf[ProbeBatch].getName),
        query.queryExecution.executedPlan
      )
    }
    for (sql <- ofGroup.flatMap(queries)) withYardstick("sortedIndexBytes", 0) {
      assertSame(sql, "interval")
      val query = spark.sql(sql)
      executed(query)
      assertSorts(query)
    }
    // Compared with the order of arrival: Spark alone would meet all pairs.
    def sortedAs(unsorted: String): Unit = {
      val expected = withYardstick("sortedIndexBytes", Long.MaxValue) {
        val query = spark.sql(unsorted)
        val rows = query.collect().toSet
        assert(broadcastJoins(query.queryExecution.executedPlan).map(_.sortsProbe) == Seq(false))
        rows
      }
      withYardstick("sortedIndexBytes", 0) {
        val query = spark.sql(unsorted)
        assert(query.collect().toSet == expected, unsorted)
        assertSorts(query)
      }
    }
    others.flatMap(on => queries(on) ++ existence(on)).foreach(sortedAs)
    withConf("spark.sql.codegen.wholeStage" -> "false") {
      assertSame(queries(ofGroup.head).head, "interval")
    }
    // Whether it pays is known when the index is.
    def isSorted(sql: String): Boolean = {
      val plan = executed(spark.sql(sql))
      assert(broadcastJoins(plan).size == 1)
      generated(plan).contains(classOf[ProbeBatch].getName)
    }
    val on = "ON points.k = l AND v BETWEEN lo AND hi"
    val counted = s"SELECT /*+ BROADCAST(spans) */ count(*), sum(id) FROM points JOIN spans $on"
    assert(!isSorted(counted))
    withYardstick("sortedIndexBytes", 1 << 16)(assert(isSorted(counted)))
    withYardstick("sortedIndexBytes", 0) {
      assert(isSorted(s"SELECT count(*) FROM points LEFT SEMI JOIN spans $on"))
      assert(!isSorted(s"SELECT id FROM points LEFT SEMI JOIN spans $on"))
    }
    val few = "SELECT /*+ BROADCAST(f) */ count(*) FROM points " +
      "JOIN (SELECT id AS w FROM range(20)) f ON points.v > f.w"
    assert(broadcastJoins(executed(spark.sql(few))).map(_.sortsProbe) == Seq(false))
  }

  test("rows and indexes survive a Kryo-serialized broadcast") {
    val kryo =
      new org.apache.spark.serializer.KryoSerializer(spark.sparkContext.getConf).newInstance()
    val builds = "SELECT v, k, CAST(k % 3 AS STRING) AS s FROM b"
    spark.sql(builds).createOrReplaceTempView("built")
    val rows = spark.sql(builds).queryExecution.toRdd.map(_.copy()).collect()
    def key(values: Any*) = InternalRow(values.map {
      case text: String => UTF8String.fromString(text)
      case number => number
    }: _*)
    val cases = Seq(
      "a JOIN built ON a.v > built.v AND (a.w + built.k) % 5 <> 9" -> Seq(key(1000L), key(9L)),
      "a JOIN built ON a.v > built.v AND a.w < built.k" -> Seq(key(~50L, 3L), key(~9L, 90L)),
      "a JOIN built ON a.k = built.k AND a.v > built.v" -> Seq(key(3L, 1000L), key(77L, 0L)),
      "a JOIN built ON a.k = built.k AND a.v > built.v AND a.w < built.k" -> Seq(key(3L, ~9L, 2L)),
      "a JOIN built ON CAST(a.w % 3 AS STRING) = s AND a.v >= built.v AND a.v <= built.k * 3" ->
        Seq(key("1", ~30L, 30L), key("x", 0L, 0L)),
      "a LEFT SEMI JOIN built ON a.k = built.k" -> Seq(key(3L), key(300L)),
      "a LEFT SEMI JOIN built ON a.k = built.k AND a.w <> built.v" -> Seq(key(3L, 6L), key(3L, 7L))
    )
    for ((join, probes) <- cases) {
      val columns = if (join.contains("SEMI")) "*" else "a.v, built.v, built.k, s"
      val node =
        thetaJoins(executed(spark.sql(s"SELECT /*+ BROADCAST(built) */ $columns FROM $join"))).head
      val output = node.right.output.map(_.name)
      val project = UnsafeProjection.create(Seq("v", "k", "s").zipWithIndex.collect {
        case (name, i) if output.contains(name) =>
          BoundReference(i, if (name == "s") StringType else LongType, nullable = true)
      })
      val relation =
        node.mode.boundTo(node.right.output)
          .transform(rows.map(project(_).copy(): InternalRow)).asInstanceOf[ThetaRelation]
      val back = kryo.deserialize[ThetaRelation](kryo.serialize(relation))
      assert(back.store.rows == relation.store.rows && back.bytes == relation.bytes, join)
      def candidates(relation: ThetaRelation, key: InternalRow) = {
        val prober = relation.index.newProber()
        prober.probe(key)
        Found.all(prober)
      }
      val found = probes.map(candidates(relation, _))
      assert(found.exists(_.nonEmpty), join)
      assert(probes.map(candidates(back, _)) == found, join)
    }
  }
}
