package thetajoin.exec

import org.apache.spark.sql.execution.SparkPlan

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.{SharedSession, Yardsticks}

/** Where few build rows have the same equality keys, an index of these keys takes the place of the accelerator's. */
class IndexOfKeysSuite extends AnyFunSuite with SharedSession {
  override protected def beforeAll(): Unit = {
    super.beforeAll()
    Yardsticks.set("indexOfKeysRows", 1)
    def view(name: String, rows: Int, columns: String*): Unit =
      spark.range(0, rows.toLong, 1, 2).selectExpr(columns: _*).createOrReplaceTempView(name)
    view(
      "a",
      400,
      "id",
      "nullif(id % 97, 5) k",
      "concat('p', id % 97) s",
      "id * 7 % 50 t",
      "id % 5 v",
      "nullif(id % 3, 2) w",
      "array(id % 5, id % 7) x",
      "concat('text ', id % 11) y"
    )
    view(
      "b",
      200,
      "id no",
      "nullif(id, 7) m",
      "concat('p', id) q",
      "id * 3 % 40 lo",
      "nullif(id * 3 % 40 + 9, 12) hi",
      "nullif(id % 3, 1) w",
      "id % 5 u",
      "concat('%', id % 11) z"
    )
    view("hot", 200, "id no", "IF(id < 70, 1, id) m", "id * 3 % 40 lo", "id * 3 % 40 + 9 hi")
    view("many", 200, "id no", "id % 10 m", "id * 3 % 40 lo", "id * 3 % 40 + 9 hi")
  }

  override protected def afterAll(): Unit =
    try Yardsticks.reset("indexOfKeysRows")
    finally super.afterAll()

  private def areOfKeys(plan: SparkPlan): Seq[Boolean] =
    broadcastJoins(plan).map(_.relation().value.isOfKeys)

  private val conditions = Seq(
    "interval" -> "t >= lo AND t < hi",
    "interval" -> "t >= lo AND t < hi AND (id + no) % 3 > 0",
    "interval" -> "t > lo",
    "boxes" -> "t >= lo AND v <= u AND t * 3 < no",
    "containment" -> "array_contains(x, u)",
    "wildcard" -> "(b.w IS NULL OR a.w = b.w)",
    "anyof" -> "(t = lo OR v = u)",
    "patterns" -> "y LIKE z"
  )

  for ((accelerator, condition) <- conditions)
    test(s"$accelerator: $condition") {
      onEveryPath { codegen =>
        for (join <- Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")) {
          val keys = if (codegen) "k = m" else "s = q AND k <=> m"
          val sql = s"SELECT /*+ BROADCAST(b) */ * FROM a $join b ON $keys AND $condition"
          assert(areOfKeys(assertSame(sql, accelerator)) == Seq(true), sql)
        }
      }
    }

  test("rows of the result come out in an aggregate, below another join, and marked") {
    onEveryPath { _ =>
      val on = "k = m AND t >= lo AND t < hi"
      val left = assertSame(s"SELECT /*+ BROADCAST(b) */ * FROM b LEFT JOIN a ON $on", "interval")
      assert(areOfKeys(left) == Seq(true))
      val aggregate = assertSame(s"SELECT count(*), sum(no) FROM a LEFT JOIN b ON $on", "interval")
      val grouped = assertSame(s"SELECT v, count(no) FROM a JOIN b ON $on GROUP BY v", "interval")
      assert(areOfKeys(aggregate) == Seq(true) && areOfKeys(grouped) == Seq(true))
      val two = s"SELECT a.id, b.no, c.no FROM a JOIN b ON $on JOIN b c ON a.k = c.m AND t > c.lo"
      assert(areOfKeys(assertSame(two, "interval", "interval")) == Seq(true, true))
    }
  }

  test("an index of keys is not for many rows of a key, nor for few build rows") {
    val on = "k = m AND t >= lo AND t < hi"
    for (right <- Seq("hot", "many"))
      assert(areOfKeys(assertSame(s"SELECT * FROM a JOIN $right ON $on", "interval")) == Seq(false))
    Yardsticks.set("indexOfKeysRows", 201)
    try assert(areOfKeys(assertSame(s"SELECT * FROM a JOIN b ON $on", "interval")) == Seq(false))
    finally Yardsticks.set("indexOfKeysRows", 1)
  }

  test("more rows than may wait, and keys found frequent among them") {
    spark.range(0, 1100000, 1, 2).selectExpr("id no", "id m", "id % 50 lo")
      .createOrReplaceTempView("large")
    spark.range(0, 3000, 1, 2).selectExpr("id no", "id % 100 m", "id % 50 lo")
      .createOrReplaceTempView("frequent")
    for (right <- Seq("large", "frequent")) {
      val sql = s"SELECT /*+ BROADCAST($right) */ id, no FROM a JOIN $right ON k = m AND t > lo"
      assert(areOfKeys(assertSame(sql, "interval")) == Seq(false))
    }
  }

  test("geometries, whose tests are quicker in their own index, keep it") {
    val on = "k = m AND st_intersects(st_point(t, v), st_point(lo, u))"
    assert(areOfKeys(assertSame(s"SELECT id, no FROM a JOIN b ON $on", "boxes")) == Seq(false))
  }
}
