package org.apache.spark.joinsuites

import java.util

import org.apache.spark.SparkRuntimeException
import org.apache.spark.sql.Row
import org.apache.spark.sql.connector.RowLevelOperationSuiteBase

/** MERGE by a range, into a table that takes changes row by row: Spark's tests merge by equal keys only. */
final class RangeMergeSuite extends RowLevelOperationSuiteBase {
  override protected def extraTableProps: util.Map[String, String] =
    util.Map.of("supports-deltas", "true")

  /** Two partitions: the rows of the source meet the target in two tasks unless the target stays where it is. */
  private def merge(source: String): Unit = {
    createAndInitTable(
      "pk INT NOT NULL, x INT, v INT, dep STRING",
      """{ "pk": 1, "x": 5, "v": 0, "dep": "a" }"""
    )
    sql(s"""
      MERGE INTO $tableNameAsString t USING ($source) s
      ON t.x >= s.lo AND t.x < s.hi
      WHEN MATCHED THEN UPDATE SET v = s.no
      WHEN NOT MATCHED THEN INSERT (pk, x, v, dep) VALUES (s.no, 0, 0, 'b')""")
  }

  private val lows = "SELECT CAST(id + 10 AS INT) AS no, id * 6 AS lo"

  test("a row that one row of the source matches") {
    merge(s"$lows, id * 6 + 6 AS hi FROM range(0, 4, 1, 2)")
    checkAnswer(
      sql(s"SELECT pk, v FROM $tableNameAsString"),
      Seq(Row(1, 10), Row(11, 0), Row(12, 0), Row(13, 0))
    )
  }

  test("a row that several match is an error") {
    val error = intercept[SparkRuntimeException](merge(s"$lows, 100 AS hi FROM range(-1, 1, 1, 2)"))
    assert(error.getCondition == "MERGE_CARDINALITY_VIOLATION")
  }
}
