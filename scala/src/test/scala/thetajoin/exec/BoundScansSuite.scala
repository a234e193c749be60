package thetajoin.exec

import java.nio.file.Files

import org.apache.spark.sql.execution.FileSourceScanExec

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.SharedSession

/** What scans read below joins whose rows are Spark's. */
class BoundScansSuite extends AnyFunSuite with SharedSession {
  private val rows = 100000L
  private val keys = Seq("l", "i", "d", "t")

  private lazy val path = newPath("sorted")

  override def beforeAll(): Unit = {
    super.beforeAll()
    val columns = Seq(
      "id l",
      "CAST(id AS INT) i",
      "date_add(DATE'1990-01-01', CAST(id AS INT)) d",
      "timestamp_seconds(id * 1000) t"
    )
    withConf("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS") {
      spark.range(0, rows, 1, 1).selectExpr(columns: _*)
        .write.option("parquet.block.size", 1 << 16).parquet(path)
    }
    spark.read.parquet(path).createOrReplaceTempView("sorted")
    // Keys that no constant folding sees, of a side that is broadcast.
    spark.range(0, 300, 1, 2).selectExpr("id * 3 + 50000 id").selectExpr(columns: _*)
      .createOrReplaceTempView("few")
    spark.sql("SELECT * FROM few WHERE i < 0").createOrReplaceTempView("none")
  }

  private def newPath(name: String): String =
    Files.createTempDirectory("thetajoin").resolve(name).toString

  private def scanned(sql: String): Long = {
    val scans = collect(assertSame(sql, "existence")) { case s: FileSourceScanExec => s }
    scans.map(_.metrics("numOutputRows").value).sum
  }

  test("a semi join reads no row group that its keys are not in") {
    for (key <- keys) {
      val sql =
        s"SELECT count(*), sum(l) FROM sorted WHERE EXISTS (SELECT 1 FROM few WHERE few.$key = sorted.$key)"
      assert(scanned(sql) < rows / 2, key)
      assert(scanned(s"$sql OR l = 7") == rows, key)
      withConf("spark.sql.adaptive.enabled" -> "false")(assert(scanned(sql) == rows, key))
    }
  }

  test("through projections and filters, beside comparisons") {
    val renamed = "(SELECT l AS x, i + 1 AS y FROM sorted WHERE l % 2 = 0) AS p"
    assert(scanned(s"SELECT y FROM $renamed LEFT SEMI JOIN few ON x = l") < rows / 2)
    assert(scanned(s"SELECT y FROM $renamed LEFT SEMI JOIN few ON x = l AND y > i") < rows / 2)
    assert(scanned(s"SELECT y FROM $renamed LEFT SEMI JOIN few ON x = l AND y + i > 7") < rows / 2)
    assert(scanned(s"SELECT y FROM $renamed LEFT SEMI JOIN few ON y = i") == rows)
  }

  test("a scan whose own filter may need the dictionaries is left alone") {
    val below = "(SELECT * FROM sorted WHERE l >= 0) AS p"
    assert(scanned(s"SELECT count(*) FROM $below LEFT SEMI JOIN few ON p.i = few.i") == rows)
  }

  test("joins that keep rows without a match read all") {
    assert(scanned("SELECT count(*) FROM sorted LEFT ANTI JOIN few ON sorted.l = few.l") == rows)
    val numbered = "(SELECT l, monotonically_increasing_id() AS x FROM sorted) AS p"
    assert(scanned(s"SELECT x FROM $numbered LEFT SEMI JOIN few ON p.l = few.l") == rows)
  }

  test("a partition's value is not that of its files") {
    val folder = newPath("partitioned")
    spark.range(10).selectExpr("id", "0 AS p").write.parquet(s"$folder/p=5")
    spark.read.parquet(folder).createOrReplaceTempView("partitioned")
    spark.range(5, 6).selectExpr("CAST(id AS INT) k").createOrReplaceTempView("five")
    assert(scanned("SELECT * FROM partitioned LEFT SEMI JOIN five ON p = k") == 10)
  }

  test("days on which calendars differ, and other formats") {
    val days = "SELECT id, date_add(DATE'1582-10-01', CAST(id AS INT)) AS d FROM range(10)"
    for (format <- Seq("parquet", "csv", "json", "orc")) {
      val file = newPath(format)
      spark.sql(days).write.format(format).save(file)
      spark.read.schema("ID LONG, d DATE").format(format).load(file).createOrReplaceTempView("old")
      spark.sql(s"$days WHERE id > 3").createOrReplaceTempView("recent")
      assert(scanned("SELECT * FROM old LEFT SEMI JOIN recent ON old.d = recent.d") == 10, format)
    }
  }

  test("columns of another name, or found by their ids") {
    spark.read.schema("L LONG").parquet(path).createOrReplaceTempView("capitals")
    val sql = "SELECT * FROM capitals o WHERE EXISTS (SELECT 1 FROM few f WHERE f.l = o.L)"
    assert(scanned(sql) < rows / 2)
    withConf("spark.sql.parquet.fieldId.read.enabled" -> "true")(assert(scanned(sql) == rows))
  }

  test("no key at all") {
    val keepsJoin = "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation"
    withConf("spark.sql.adaptive.optimizer.excludedRules" -> keepsJoin) {
      assert(scanned("SELECT * FROM sorted LEFT SEMI JOIN none ON sorted.l = none.l") == rows)
    }
  }
}
