package thetajoin.report

import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.SharedSession

/** Statements that analysis itself runs, on the Spark that is compiled against: its classes have other names than later. */
class ExplainFunctionSuite extends AnyFunSuite with SharedSession {
  override protected def settings: Map[String, String] =
    Map("spark.sql.scripting.enabled" -> "true")

  test("scripts, CALL and EXECUTE IMMEDIATE are refused and not run") {
    spark.range(3).createOrReplaceTempView("kept")
    val drop = "DROP VIEW kept"
    val statements = Seq(
      drop,
      s"EXECUTE IMMEDIATE ''$drop''",
      "EXECUTE IMMEDIATE ''SELECT 1''",
      s"BEGIN $drop; END",
      "CALL some.procedure(1)",
      "DROP VIEW IDENTIFIER(''kept'')"
    ).map(_.replace("''", "\\'"))
    for (statement <- statements) {
      val failed =
        Try(spark.sql(s"SELECT * FROM thetajoin_explain('$statement')").collect()).failed.get
      assert(failed.getMessage.contains("it is no query and was not run"), statement)
      assert(spark.table("kept").count() == 3, statement)
    }
  }
}
