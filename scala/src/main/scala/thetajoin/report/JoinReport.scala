package thetajoin.report

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.joins.BaseJoinExec

import thetajoin.driver.JoinMetrics
import thetajoin.exec.{ThetaJoinExec, ThetaJoinStrategy}
import thetajoin.hints.ThetaHint
import thetajoin.logical.RankedJoin
import thetajoin.planner.{Decision, Estimate, Loser}
import thetajoin.reason.{Reason, ReasonCode}
import thetajoin.stage.FoldAggregates
import thetajoin.stream.KeptBroadcastExec

/**
 * The report on one join of a plan: which accelerator serves it, or why none does.
 *
 * @param passedOver the accelerators that would not serve it, with their reasons; none if an index does
 * @param notes further facts, for example about a hint
 * @param counts what the metrics of its node say, as [[Counts]] has them
 */
final case class JoinReport(
    number: Int,
    joinType: String,
    condition: String,
    outcome: Either[Reason, Acceleration],
    passedOver: Seq[Loser],
    notes: Seq[String],
    counts: Map[String, Long]
) {
  def text: String = {
    val head = s"[$number] $joinType join ON $condition"
    val told = outcome match {
      case Right(a) =>
        s"""$head: accelerated by ${a.accelerator}
           |    exec: ${a.exec}, ${a.buildSide}
           |    index: ${a.index.mkString("[", ", ", "]")}
           |    residual: ${a.residual.mkString("[", ", ", "]")}""".stripMargin + counts(a)
      case Left(reason) =>
        s"""$head: not accelerated, ${reason.code.name}
           |    reason: ${reason.what}
           |    remedy: ${reason.remedy}""".stripMargin
    }
    told + passedOver.map(loser => s"\n    passed over: ${loser.advice}").mkString +
      notes.map(note => s"\n    note: $note").mkString
  }

  private def counts(a: Acceleration): String =
    a.estimate.map { e =>
      s"\n    estimate: ${e.buildRows} build rows, ${e.probeRows} probe rows"
    }.mkString + a.seen.map { s =>
      s"\n    seen: ${s.indexRows} index rows, ${s.candidates} candidates, ${s.matches} matches"
    }.mkString
}

/**
 * @param isRanked whether the join has the first k of all candidates by a rank that is evaluated for each
 * @param estimate the expected numbers; None if the join was planned under other settings
 * @param seen the counted numbers; None before the query has run
 */
final case class Acceleration(
    accelerator: String,
    exec: String,
    buildSide: String,
    index: Seq[String],
    residual: Seq[String],
    isRanked: Boolean,
    estimate: Option[Estimate],
    seen: Option[Seen]
) {

  /** Says that the index answers nothing, if there is a condition or a rank for each pair. */
  def comparedPairs: Option[String] =
    if (index.nonEmpty || residual.isEmpty && !isRanked) None
    else {
      val pairs = estimate.map(e => s", ${e.buildRows * e.probeRows} by estimate").mkString
      Some(s"all pairs of rows are compared one by one$pairs: no index serves the condition")
    }
}

/**
 * @param indexRows rows that the index is over
 * @param candidates pairs that the index gave; `matches` of them passed the residual
 */
final case class Seen(indexRows: Long, candidates: Long, matches: Long)

object JoinReport extends AdaptiveSparkPlanHelper {

  /**
   * A report for each join of the plan and its subqueries, from the top down. Notes on the whole query are told at
   * its first join.
   */
  def of(plan: SparkPlan): Seq[JoinReport] = {
    val listed =
      collectWithSubqueries(plan) { case node => FoldAggregates.against(node) }.flatten
    val reports = collectWithSubqueries(plan) { case join if isJoin(join) => join }
      .zipWithIndex
      .map { case (join, i) =>
        val found = report(i + 1, join)
        val reasons = listed.collect { case (`join`, reason) => reason.toString }
        found.copy(notes = found.notes ++ reasons)
      }
    lazy val notes = QueryNotes.of(collectWithSubqueries(plan) { case node => node }, plan.conf)
    reports.take(1).map(first => first.copy(notes = first.notes ++ notes)) ++ reports.drop(1)
  }

  /** Spark's join of two streams is no [[BaseJoinExec]]. */
  private def isJoin(node: SparkPlan): Boolean = node match {
    case _: BaseJoinExec => true
    case _ => node.children.size == 2 && ofStreams(node).isDefined
  }

  private def ofStreams(node: SparkPlan): Option[Join] =
    node.logicalLink.collect { case join: Join if join.isStreaming => join }

  private def report(number: Int, exec: SparkPlan): JoinReport = {
    val logical = exec.logicalLink.collect { case j: Join => j }
    val (joinType, condition) = exec match {
      case ours: ThetaJoinExec => (ours.joinType, ours.condition)
      case join: BaseJoinExec =>
        (join.joinType, logical.flatMap(_.condition).orElse(join.condition))
      case _ => ofStreams(exec).map(join => (join.joinType, join.condition)).get
    }
    val decision =
      exec.logicalLink.flatMap(ThetaJoinStrategy.decision).getOrElse(noJoin(exec))
    val counts = Counts.of(exec)
    val outcome = exec match {
      case ours: ThetaJoinExec =>
        Right(acceleration(ours, decision.chosen.map(_.estimate), counts))
      case _ => Left(decision.outcome.left.getOrElse(ReasonCode.PlannedElsewhere()))
    }
    val ofPairs = outcome.toOption.flatMap(_.comparedPairs)
    val ofRanked = exec.logicalLink.collect {
      case ranked: RankedJoin if ranked.isApproximate => "APPROX is answered exactly"
    }
    val readings = exec match {
      case ours: ThetaJoinExec => Reading.of(ours)
      case _ => Nil
    }
    JoinReport(
      number,
      joinType.toString,
      condition.map(sql).getOrElse("true"),
      outcome,
      if (outcome.isLeft || ofPairs.nonEmpty) decision.losers else Nil,
      readings ++ kept(exec) ++ ofPairs ++ ofRanked ++ logical.toSeq.flatMap(
        ThetaHint.of
      ).flatMap(_.note).distinct,
      counts
    )
  }

  private def kept(exec: SparkPlan): Option[String] = exec match {
    case ours: ThetaJoinExec =>
      collectFirst(ours.build) { case b: KeptBroadcastExec => s"the index is ${b.told}" }
    case _ => None
  }

  private def acceleration(
      exec: ThetaJoinExec,
      estimate: Option[Estimate],
      counts: Map[String, Long]
  ): Acceleration =
    Acceleration(
      exec.join.accelerator,
      exec.nodeName,
      exec.buildSide.toString,
      exec.join.served.map(sql),
      exec.join.ofFound.map(sql),
      exec.join.rank.isDefined,
      estimate,
      if (counts.isEmpty) None else Some(seen(counts))
    )

  private def seen(counts: Map[String, Long]): Seen = Seen(
    counts(JoinMetrics.IndexRows),
    counts(JoinMetrics.CandidateRows),
    counts(JoinMetrics.Matches)
  )

  private def noJoin(exec: SparkPlan): Decision =
    Decision(Left(ReasonCode.OtherOperator(exec.nodeName)))

  private def sql(e: Expression): String = e.sql
}
