package thetajoin.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.accelerator.Registry

/** As [[CancellationSuite]], of look-ups that do much work within an index and find nothing. */
class LookUpCancellationSuite extends AnyFunSuite with CancelledQueries {

  /** A file of `b` is one batch, ahead of which alone Spark asks. */
  override protected def settings: Map[String, String] =
    Map("spark.sql.parquet.columnarReaderBatchSize" -> "1000000")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    // Points are in the boxes of all triangles, and in no triangle.
    def point(x: String, y: String) = s"st_point($x, $y)"
    def corner(x: String, y: String) = s"substring(${point(x, y)}, 6)"
    val corners = Seq(corner("0", "0"), corner("9", "9"), corner("9", "9 + id"), corner("0", "0"))
    val triangle = s"concat(X'01030000000100000004000000', ${corners.mkString(", ")})"
    spark.sql(
      s"SELECT *, $triangle AS g, concat('wxyzwxyz', id, 'q') AS t, array(id % 2, 2) AS tags, " +
        s"IF(id = 0, -9000000000, v) AS u, IF(id = 0, ${1L << 40}, id % 2) AS w, " +
        s"array_repeat(float(id + 1), 64) AS e, ${columns(1, ">")} FROM a"
    ).createOrReplaceTempView("x")
    spark.sql(
      s"SELECT *, ${point("k + 5", "k + 1")} AS g, concat('wxyzwxyz', id, 'q') AS t, array(k, 1) AS tags, " +
        s"k + 2 AS w, array_repeat(float(id + 1), 64) AS e, ${columns(2, "<")} FROM b"
    ).createOrReplaceTempView("y")
  }

  /** Columns of a value that are null where a bit of the id compares so: in each combination, or in none. */
  private def columns(value: Int, operator: String): String =
    names.zipWithIndex.map { case (c, i) =>
      s"IF((id & ${1 << i}) $operator 0, NULL, $value) AS $c"
    }.mkString(", ")

  private lazy val names = Seq.tabulate(16)(i => s"c$i")

  private def join(on: String): String =
    s"SELECT /*+ BROADCAST(x) */ x.id, y.id FROM y JOIN x ON $on"

  private lazy val queries = Seq(
    "patterns" -> join("y.t LIKE concat('%wxyzwxyz_', x.id)"),
    "patterns" -> join("x.t LIKE concat('%wxyzwxyz_', y.id)"),
    "patterns" -> join("y.t RLIKE concat('wxyzwxyz[0-9]', x.id, 'z')"),
    "boxes" -> join("st_contains(x.g, y.g)"),
    // Of w all but one row have values that are the same in their first bits.
    "boxes" -> join("x.w >= y.w AND x.u > y.lo AND x.id > y.lo"),
    "containment" -> join("forall(y.tags, t -> array_contains(x.tags, t))"),
    "containment" -> join("forall(x.tags, t -> array_contains(y.tags, t))"),
    "containment" -> join("size(array_intersect(x.tags, y.tags)) >= 2"),
    "wildcard" -> join(names.map(c => s"(x.$c IS NULL OR x.$c = y.$c)").mkString(" AND ")),
    "vector" -> join("vector_inner_product(x.e, y.e) > 1e15D"),
    "similar" -> join("levenshtein(x.t, concat('wxyzwxyz', -y.id, 'qqqqqqq')) <= 6"),
    "anyof" -> join("x.id = y.v - 100000000 OR y.t LIKE concat('%wxyzwxyz_', x.id)"),
    "existence" -> s"SELECT id FROM y WHERE (${names.mkString(", ")}) NOT IN (SELECT ${names.mkString(", ")} FROM x)"
  )

  /** Accelerators of which no look-up does much without a candidate, and why. */
  private val others = Map(
    "interval" -> "a search in a tree of maxima ends at a candidate, or after some hundred steps",
    "piecewise" -> "a binary search gives the only run",
    "nearest" -> "sorted rows are candidates one after another",
    "nestedloop" -> "every row is a candidate",
    "python" -> "a Python worker looks rows up, which Spark ends with its task"
  )

  test("each accelerator has a query, or a reason why it has none") {
    assert(queries.map(_._1).toSet ++ others.keySet == Registry.builtIn.map(_.id).toSet)
  }

  for (((accelerator, sql), i) <- queries.zipWithIndex; interrupts <- Seq(false, true))
    test(s"query ${i + 1}, $accelerator${if (interrupts) ", threads are interrupted" else ""}") {
      withConf("spark.sql.autoBroadcastJoinThreshold" -> "1g") {
        val query = spark.sql(sql)
        assertFreed(query, "BroadcastThetaJoin", interrupts)
        assert(thetaJoins(query.queryExecution.executedPlan).map(_.join.accelerator) ==
          Seq(accelerator))
      }
    }

  /** Accelerators that sort build rows by comparing them, or in many passes. */
  private val sorting = Set("boxes", "patterns", "wildcard")

  for (((accelerator, sql), i) <- queries.zipWithIndex if sorting(accelerator))
    test(s"an interrupted thread stops building what query ${i + 1} needs, $accelerator") {
      withConf(
        "spark.sql.autoBroadcastJoinThreshold" -> "1g",
        "spark.sql.adaptive.enabled" -> "false"
      ) {
        val plan = spark.sql(sql).queryExecution.executedPlan
        val exchange = collectFirst(plan) { case e: BroadcastExchangeExec => e }.get
        val rows = exchange.child.executeCollect().iterator ++ new InterruptingIterator
        try intercept[InterruptedException](exchange.mode.transform(rows, None))
        finally Thread.interrupted(): Unit
      }
    }

  /** Ends, and interrupts the thread. */
  private final class InterruptingIterator extends Iterator[InternalRow] {
    override def hasNext: Boolean = {
      Thread.currentThread.interrupt()
      false
    }
    override def next(): InternalRow = throw new NoSuchElementException
  }
}
