package thetajoin.report

import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec
import org.apache.spark.sql.execution.{LocalTableScanExec, SparkPlan, SparkStrategy}

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.SharedSession
import thetajoin.reason.ReasonCode

/** Joins that our strategy has not planned. */
class JoinReportSuite extends AnyFunSuite with SharedSession {

  /** As of another extension, which comes first. */
  private object Foreign extends SparkStrategy {
    override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
      case Join(l, r, Inner, on, _) =>
        Seq(BroadcastNestedLoopJoinExec(planLater(l), planLater(r), BuildRight, Inner, on))
      case _ => Nil
    }
  }

  private def code(plan: SparkPlan): Option[ReasonCode] =
    JoinReport.of(plan).head.outcome.left.toOption.map(_.code)

  test("a join that another strategy plans first is told as such, until that is gone") {
    val sql = "SELECT * FROM range(5) AS a JOIN range(9) AS b ON a.id > b.id"
    spark.experimental.extraStrategies = Seq(Foreign)
    try assert(code(executed(spark.sql(sql))).contains(ReasonCode.PlannedElsewhere))
    finally spark.experimental.extraStrategies = Nil
    assert(code(executed(spark.sql(sql))).isEmpty)
  }

  test("a node that Spark made of no join is told as such") {
    spark.range(1).collect()
    def scan = LocalTableScanExec(Nil, Nil, None)
    val node = BroadcastNestedLoopJoinExec(scan, scan, BuildRight, Inner, None)
    assert(code(node).contains(ReasonCode.OtherOperator))
  }
}
