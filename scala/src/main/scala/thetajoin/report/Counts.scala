package thetajoin.report

import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, QueryStageExec}
import org.apache.spark.sql.execution.exchange.{ReusedExchangeExec, ShuffleExchangeLike}

import thetajoin.driver.JoinMetrics
import thetajoin.exec.{MarkRowsExec, ProbeRowsExec, ThetaJoinExec}

/** The numbers of a join that has run: the metrics of its node by their keys, and the rows of its probe side. */
object Counts {
  val ProbeRows = "probeRows"

  /** None of a join of ours that has not run, and of one that has looked no row up. */
  private[report] def of(exec: SparkPlan): Map[String, Long] = {
    val metrics = exec.metrics.map { case (key, metric) => key -> metric.value }
    exec match {
      case ours: ThetaJoinExec =>
        if (metrics(JoinMetrics.ProbeTime) <= 0) Map.empty
        else metrics ++ rows(ours.probe).map(ProbeRows -> _)
      case _ => metrics
    }
  }

  /** The rows that a side gave, as the first node counts them that does. */
  private def rows(side: SparkPlan): Option[Long] =
    Seq("numOutputRows", "shuffleRecordsWritten").flatMap(side.metrics.get).headOption match {
      case Some(metric) => Some(metric.value)
      case None => below(side).flatMap(rows)
    }

  /** The child of a node that gives its child's rows, all of them once. */
  private def below(node: SparkPlan): Option[SparkPlan] = node match {
    case stage: QueryStageExec => Some(stage.plan)
    case reused: ReusedExchangeExec => Some(reused.child)
    case _: ProjectExec | _: SortExec | _: InputAdapter | _: WholeStageCodegenExec |
        _: AQEShuffleReadExec | _: ShuffleExchangeLike | _: ProbeRowsExec | _: MarkRowsExec =>
      node.children.headOption
    case _ => None
  }
}
