package thetajoin.exec

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.SharedSession

/** Outer joins that preserve the build side, below an aggregate. */
class PreservedBuildSideSuite extends AnyFunSuite with SharedSession {
  private val points = 80L

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(0, points, 1, 3).selectExpr("id", "id % 11 AS k", "id * 50021 % 4000000 AS t")
      .createOrReplaceTempView("points")
    // Enough for two slices.
    spark.range(0, 140000, 1, 2).selectExpr(
      "id + 0 AS no",
      "id % 13 AS g",
      "id * 29 AS lo",
      "id * 29 + id % 40 AS hi",
      "IF(id % 3 = 0, NULL, concat('t', id)) AS note"
    ).createOrReplaceTempView("spans")
  }

  private val preserving = for {
    (side, join) <- Seq(("s", "FULL"), ("p", "FULL"), ("s", "RIGHT"), ("p", "LEFT"))
  } yield s"SELECT /*+ BROADCAST($side) */ count(*), count(id), count(no), sum(t), sum(hi), max(no - t) " +
    s"FROM points p $join JOIN spans s ON "

  test("the rows are Spark's, by every accelerator") {
    val conditions = Seq(
      "t BETWEEN lo AND hi" -> "interval",
      "k = g AND t BETWEEN lo AND hi" -> "interval",
      "t BETWEEN lo AND hi AND (id + no) % 3 <> 1" -> "interval",
      "no < id % 5 AND p.id > 40" -> "piecewise",
      "(id + no) % 40000 = 7 AND p.id < 40" -> "nestedloop"
    )
    for (
      (adaptive, bytes) <- Seq("true" -> 0L, "false" -> Long.MaxValue);
      (condition, accelerator) <- conditions;
      sql <- preserving
    )
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        withYardstick("sortedIndexBytes", bytes)(assertSame(sql + condition, accelerator))
      }
  }

  test("empty sides, and tasks without rows") {
    val excluded = "org.apache.spark.sql.catalyst.optimizer.PropagateEmptyRelation"
    val adaptiveExcluded =
      "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation"
    withConf(
      "spark.sql.optimizer.excludedRules" -> excluded,
      "spark.sql.adaptive.optimizer.excludedRules" -> adaptiveExcluded
    ) {
      onEveryPath { _ =>
        for ((p, s) <- Seq("id < 0" -> "true", "id = 79" -> "no < 1000", "true" -> "no < 0"))
          assertSame(
            "SELECT /*+ BROADCAST(s) */ count(*), count(id), sum(no), max(hi) FROM " +
              s"(SELECT * FROM points WHERE $p) p FULL JOIN (SELECT * FROM spans WHERE $s) s " +
              "ON t BETWEEN lo AND hi",
            "interval"
          )
      }
    }
  }
}
