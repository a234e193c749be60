package thetajoin.planner

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.{Settings, SharedSession}

/** A join with a condition of many parts is not planned much longer than without the extension. */
class LargeConditionsSuite extends AnyFunSuite with SharedSession {
  private def joined(by: String, parts: Int = 1500)(part: Int => String): String =
    Seq.tabulate(parts)(part).mkString(by)

  private val conditions = Map(
    "CASE" -> s"CASE ${joined(" ")(i => s"WHEN a.id = $i THEN b.id = a.id + $i")} END",
    "CASE with few arms" ->
      s"CASE ${joined(" ")(i =>
          s"WHEN a.id = $i THEN ${if (i % 150 == 0) "a.id = b.id" else "false"}"
        )} END",
    "coalesce" -> s"coalesce(${joined(", ")(i => s"a.id = nullif(b.id, $i)")})",
    "OR" -> joined(" OR ")(i => s"a.id < b.id + $i AND a.id > b.id * $i"),
    "IN" -> s"a.id IN (${joined(", ")(i => s"b.id + $i")})",
    // More of them are too deep for Spark's parser.
    "sum" -> s"a.id < ${joined(" - ", parts = 300)(i => s"b.id - $i")}"
  )

  for ((name, condition) <- conditions)
    test(name) {
      def seconds(isEnabled: Boolean): Double =
        withConf(Settings.Enabled.key -> isEnabled.toString) {
          val query = spark.sql(
            s"SELECT * FROM range(1000) a JOIN range(1000) b ON $condition"
          ).queryExecution
          query.optimizedPlan
          val started = System.nanoTime()
          query.executedPlan
          (System.nanoTime() - started) / 1e9
        }
      val ofSpark = seconds(isEnabled = false)
      val ours = seconds(isEnabled = true)
      assert(ours < 5 + 3 * ofSpark)
    }
}
