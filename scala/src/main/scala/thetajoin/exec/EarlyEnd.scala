package thetajoin.exec

import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, QueryStageExec}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanExecBase
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins.BaseJoinExec

import thetajoin.condition.Safety
import thetajoin.driver.ThetaJoin

/**
 * Whether a join may stop reading rows whose result it knows. Spark's own joins read all rows. This shows if a node
 * below counts its rows (`Dataset.observe`, accumulators in user code) or fails on some row (`assert_true`, ANSI
 * arithmetic).
 */
private[exec] object EarlyEnd {

  /**
   * By what is known of nodes and expressions: others are assumed to tell. A plan below a shuffle or a build side is
   * read as a whole in any case.
   */
  def isHidden(plan: SparkPlan): Boolean = plan match {
    case _: Exchange | _: QueryStageExec | _: AQEShuffleReadExec => true
    case _: FileSourceScanExec | _: DataSourceV2ScanExecBase | _: InMemoryTableScanExec |
        _: RangeExec | _: LocalTableScanExec => true
    case _: ProbeRowsExec | _: InputAdapter | _: WholeStageCodegenExec | _: ColumnarToRowExec |
        _: UnionExec => plan.children.forall(isHidden)
    case _: ProjectExec | _: FilterExec | _: SortExec | _: BaseAggregateExec | _: BaseJoinExec =>
      plan.expressions.forall(cannotFail) && plan.children.forall(isHidden)
    case _ => false
  }

  private def cannotFail(e: Expression): Boolean = e match {
    case SortOrder(key, _, _, _) => Safety.cannotFail(key)
    case ours: ThetaJoin => ours.children.forall(cannotFail)
    case _ => Safety.cannotFail(e)
  }
}
