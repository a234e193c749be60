package thetajoin.planner

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.SharedSession

/** Sides with arrays, which Spark counts as one element each. */
class PlausibleSizeSuite extends AnyFunSuite with SharedSession {
  private val rows = 400000

  private def size(array: String): BigInt = PlausibleSize.of(
    spark.range(rows).selectExpr("id", s"$array AS v").queryExecution.optimizedPlan
  )

  test("an array that is computed has as many elements as its text says, or many") {
    val vectors = size("transform(sequence(1, 256), i -> float(id * i))")
    assert(vectors >= BigInt(rows) * 256 * 4)
    val few = size("array(id, id + 1)")
    assert(few >= BigInt(rows) * 16 && few < vectors / 10)
    assert(size("split(string(id), ',')") > few)
  }
}
