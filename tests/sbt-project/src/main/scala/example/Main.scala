package example

import org.apache.spark.sql.SparkSession

import thetajoin.contract.Accelerator
import thetajoin.kit.EqualKeys

/** Runs an accelerated join, and prints its plan and rows. */
object Main {
  // Compiled against the contract and the kit, as an accelerator of the project's own would be.
  val contract: Class[Accelerator] = classOf[Accelerator]
  val kit: Class[EqualKeys] = classOf[EqualKeys]

  def main(arguments: Array[String]): Unit = {
    val spark = SparkSession.builder()
      .master("local[1]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.extensions", "thetajoin.ThetaJoinExtensions")
      .getOrCreate()
    val pairs = spark.sql("SELECT count(*) FROM range(50) AS a JOIN range(50) AS b ON a.id > b.id")
    println(s"pairs: ${pairs.head().getLong(0)}")
    println(pairs.queryExecution.executedPlan)
    spark.stop()
  }
}
