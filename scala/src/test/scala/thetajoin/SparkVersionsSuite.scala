package thetajoin

import org.scalatest.funsuite.AnyFunSuite

class SparkVersionsSuite extends AnyFunSuite {
  private def warning(spark: String, scala: String = "2.13.16"): Option[String] =
    Option(SparkVersions.warningAbout(spark, scala))

  test("supported versions, and builds of them by vendors, are taken without a word") {
    for (spark <- Seq("4.0.0", "4.1.0-SNAPSHOT", "4.2.1.dev1", "4.3.0", "4.3.10-vendor.7"))
      assert(warning(spark).isEmpty, spark)
  }

  test("an older Spark and another Scala are errors that say what was found and what to do") {
    val others =
      Seq("3.5.7" -> "2.12.18", "3.5.7" -> "2.13.8", "4.0.0" -> "2.12.18", "4.0.0" -> "2.1.3")
    for ((spark, scala) <- others) {
      val told = intercept[UnsupportedSparkException](warning(spark, scala)).getMessage
      assert(
        told == "[UNSUPPORTED_SPARK] thetajoin runs on Spark 4.0 to 4.3 with Scala 2.13, but this is " +
          s"Spark $spark with Scala $scala. Use such a Spark, or take thetajoin.ThetaJoinExtensions out of " +
          "spark.sql.extensions."
      )
    }
  }

  test("a newer Spark, and one whose version is no number, is used with a warning") {
    for (spark <- Seq("4.4.0", "4.10.0", "5.0.0", "10.0.0", "nightly"))
      assert(warning(spark).exists(_.contains(s"this is Spark $spark with Scala 2.13.16")), spark)
  }

  test("the Spark of the tests is supported") {
    SparkVersions.requireSupported()
  }
}
