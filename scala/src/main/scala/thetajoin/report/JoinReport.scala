package thetajoin.report

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.joins.BaseJoinExec

import thetajoin.exec.{ThetaJoinExec, ThetaJoinStrategy}
import thetajoin.planner.{Decision, Loser, ThetaHint}
import thetajoin.reason.{Reason, ReasonCode}

/**
 * What became of one join of a plan: accelerated by what, or why not.
 *
 * @param passedOver the accelerators that would not serve it, with their reasons
 * @param notes what else there is to know, for example of a hint
 */
final case class JoinReport(
    number: Int,
    joinType: String,
    condition: String,
    outcome: Either[Reason, Acceleration],
    passedOver: Seq[Loser],
    notes: Seq[String]
) {
  def text: String = {
    val head = s"[$number] $joinType join ON $condition"
    val told = outcome match {
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
    told + passedOver.map(loser => s"\n    passed over: $loser").mkString +
      notes.map(note => s"\n    note: $note").mkString
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
      case ours: ThetaJoinExec => ours.condition
      case _ => logical.flatMap(_.condition).orElse(exec.condition)
    }
    val decision = logical.map(ThetaJoinStrategy.decision).getOrElse(unknown)
    val outcome = exec match {
      case ours: ThetaJoinExec => Right(acceleration(ours))
      case _ => Left(decision.outcome.left.getOrElse(otherSettings))
    }
    JoinReport(
      number,
      exec.joinType.toString,
      condition.map(sql).getOrElse("true"),
      outcome,
      decision.losers,
      logical.toSeq.flatMap(ThetaHint.of).flatMap(_.note).distinct
    )
  }

  private def acceleration(exec: ThetaJoinExec): Acceleration =
    Acceleration(
      exec.mode.accelerator,
      exec.nodeName,
      exec.buildSide.toString,
      exec.indexed.map(sql),
      exec.residual.map(sql)
    )

  private def unknown: Decision = Decision(
    Left(ReasonCode.NoAccelerator("Spark made this node of another operator"))
  )

  private def otherSettings: Reason =
    ReasonCode.NoAccelerator("the plan was made under other settings")

  private def sql(e: Expression): String = e.sql
}
