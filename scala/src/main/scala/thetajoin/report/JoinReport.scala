package thetajoin.report

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.internal.SQLConf

import thetajoin.exec.BroadcastThetaJoinExec
import thetajoin.planner.Planner
import thetajoin.reason.Reason
import thetajoin.reason.ReasonCode

/** What became of one join of a plan: accelerated by what, or why not. */
final case class JoinReport(
    number: Int,
    joinType: String,
    condition: String,
    outcome: Either[Reason, Acceleration]
) {
  def text: String = {
    val head = s"[$number] $joinType join ON $condition"
    outcome match {
      case Right(a) =>
        s"""$head: accelerated by ${a.accelerator}
           |    exec: ${a.exec}, ${a.buildSide}
           |    index: ${a.index.mkString("[", ", ", "]")}
           |    residual: ${a.residual.mkString("[", ", ", "]")}""".stripMargin
      case Left(reason) =>
        s"""$head: not accelerated, ${reason.code.name}
           |    reason: ${reason.what}
           |    remedy: ${reason.remedy}""".stripMargin
    }
  }
}

final case class Acceleration(
    accelerator: String,
    exec: String,
    buildSide: String,
    index: Seq[String],
    residual: Seq[String]
)

object JoinReport extends AdaptiveSparkPlanHelper {

  /** A report for each join of the plan and its subqueries, from the top down. */
  def of(plan: SparkPlan): Seq[JoinReport] =
    collectWithSubqueries(plan) { case join: BaseJoinExec => join }
      .zipWithIndex
      .map { case (join, i) => report(i + 1, join) }

  private def report(number: Int, exec: BaseJoinExec): JoinReport = {
    val logical = exec.logicalLink.collect { case j: Join => j }
    val condition = exec match {
      case ours: BroadcastThetaJoinExec => ours.condition
      case _ => logical.flatMap(_.condition).orElse(exec.condition)
    }
    val outcome = exec match {
      case ours: BroadcastThetaJoinExec => Right(acceleration(ours))
      case _ => Left(
          logical.map(whyNot).getOrElse(ReasonCode.NoAccelerator("not planned as a logical join"))
        )
    }
    JoinReport(number, exec.joinType.toString, condition.map(sql).getOrElse("true"), outcome)
  }

  private def acceleration(exec: BroadcastThetaJoinExec): Acceleration =
    Acceleration(
      exec.mode.accelerator,
      exec.nodeName,
      exec.buildSide.toString,
      exec.indexed.map(sql),
      exec.residual.map(sql)
    )

  private def whyNot(join: Join): Reason =
    try
      Planner.choose(join, SQLConf.get).outcome match {
        case Left(reason) => reason
        case Right(_) => ReasonCode.NoAccelerator("the plan was made under other settings")
      }
    catch { case NonFatal(e) => ReasonCode.PlanningFailed(e.toString) }

  private def sql(e: Expression): String = e.sql
}
