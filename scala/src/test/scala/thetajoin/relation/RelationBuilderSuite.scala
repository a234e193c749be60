package thetajoin.relation

import scala.collection.mutable

import org.apache.spark.sql.catalyst.optimizer.BuildLeft

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.SharedSession
import thetajoin.exec.ThetaJoinExec

class RelationBuilderSuite extends AnyFunSuite with SharedSession {

  private val conditions = Seq(
    "piecewise" -> "a.x < b.x",
    "piecewise" -> "a.s < b.s",
    "interval" -> "a.x BETWEEN b.x AND b.y",
    "interval" -> "a.x BETWEEN b.x AND b.y AND a.k = b.k",
    "interval" -> "a.x BETWEEN b.x AND b.y AND a.s = b.s",
    "interval" -> "a.x BETWEEN b.x AND b.y AND a.id = b.id",
    "interval" -> "a.x < b.x AND a.y < b.z",
    "boxes" -> "a.x BETWEEN b.x AND b.y AND a.z BETWEEN b.z AND b.z + 5",
    "containment" -> "array_contains(b.xs, a.x)",
    "containment" -> "arrays_overlap(a.ss, b.ss)",
    "containment" -> "array_contains(a.ss, b.s)",
    "anyof" -> "a.x = b.x OR a.s = b.s",
    "wildcard" -> "(b.x IS NULL OR a.x = b.x) AND (b.s IS NULL OR a.s = b.s)",
    "patterns" -> "a.s LIKE concat('%', b.s, '%')",
    "patterns" -> "b.s LIKE concat('%', a.s, '%')",
    "vector" -> "vector_cosine_similarity(a.v, b.v) > 0.9",
    "nestedloop" -> "a.x * b.x = 12"
  )

  /**
   * What is asked for while a join's build rows come, and what they take in the end.
   *
   * @param ofKeys whether the index may be of the equality keys alone
   */
  private def held(sql: String, ofKeys: Boolean): (String, Seq[Long], Long) = {
    val join: ThetaJoinExec = thetaJoins(spark.sql(sql).queryExecution.sparkPlan).head
    val build = if (join.buildSide == BuildLeft) join.left else join.right
    val bound = join.mode.boundTo(build.output)
    val mode = if (ofKeys) bound else bound.copy(equalKeys = Nil)(None)
    val asked = mutable.ArrayBuffer.empty[Long]
    val rows = spark.sessionState.executePlan(build.logicalLink.get).toRdd.map(_.copy()).collect()
    val relation = mode.relation(new MeasuredRows(rows.iterator), asked.append(_): Unit)
    (join.join.accelerator, asked.toSeq, relation.bytes)
  }

  test("what a builder says that it holds grows with its rows, and is no less than what it makes") {
    spark.range(0, 60000, 1, 1).selectExpr(
      "id",
      "id * 7919 % 100003 AS x",
      "id * 7919 % 100003 + 9 AS y",
      "id * 104729 % 99991 AS z",
      "id % 100 AS k",
      "'s' || id * 31 % 5003 AS s",
      "array(id % 777, id % 1999) AS xs",
      "array('t' || id % 991, 'u') AS ss",
      "array(float(id % 7), float(id % 11), 1f) AS v"
    ).createOrReplaceTempView("t")
    for ((accelerator, condition) <- conditions) {
      val sql = s"SELECT /*+ BROADCAST(b) */ * FROM t a JOIN t b ON $condition"
      val (used, asked, bytes) = held(sql, ofKeys = false)
      assert(used == accelerator, condition)
      // The keys of rows that wait for another index are let go of once it is known.
      val (_, askedOfKeys, bytesOfKeys) = held(sql, ofKeys = true)
      assert(askedOfKeys.last >= bytesOfKeys && askedOfKeys.last < bytesOfKeys * 12, condition)
      assert(asked.size > 2 && asked == asked.sorted, condition)
      assert(asked.last >= bytes, condition)
      assert(asked.last < bytes * 12, condition)
    }
  }
}
