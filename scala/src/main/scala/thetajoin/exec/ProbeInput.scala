package thetajoin.exec

import org.apache.spark.sql.catalyst.expressions.{Attribute, IsNotNull}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat

import thetajoin.Yardsticks
import thetajoin.condition.{ConditionAnalysis, Safety}
import thetajoin.logical.Repeatable
import thetajoin.rowstore.RowStore

/**
 * What the plan of a probe side tells about its rows: how many partitions there are, how they come, whether they can
 * be read twice.
 */
private[exec] object ProbeInput {

  /** Whether rows with these columns are sorted sooner than unsorted rows are looked up. */
  def areNarrow(columns: Seq[Attribute]): Boolean =
    columns.forall(a => RowStore.isFlat(a.dataType)) &&
      columns.map(_.dataType.defaultSize).sum <= Yardsticks.NarrowRowBytes()

  /**
   * Whether a plan gives the same rows each time it runs, at less cost than keeping them: a scan of columns, with
   * little computed of them and no filter but for nulls.
   */
  def isRepeatable(plan: SparkPlan): Boolean = plan match {
    case scan: FileSourceScanExec => scan.supportsColumnar && Repeatable(scan.relation)
    case _: RangeExec | _: LocalTableScanExec => true
    case ProjectExec(columns, child) => columns.forall(Safety.cannotFail) && isRepeatable(child)
    case FilterExec(condition, child) =>
      isRepeatable(child) && ConditionAnalysis.conjuncts(condition).forall {
        case IsNotNull(_: Attribute) => true
        case _ => false
      }
    case _: ColumnarToRowExec | _: WholeStageCodegenExec | _: InputAdapter | _: ProbeRowsExec =>
      plan.children.forall(isRepeatable)
    case _ => false
  }

  /**
   * Whether generated code of a plan gives one row at most for each turn of its loop, which then stops where a stage
   * above has a row to give.
   */
  def givesRowByRow(plan: SparkPlan): Boolean = plan match {
    case _: ProjectExec | _: FilterExec => plan.children.forall(givesRowByRow)
    case join: ThetaJoinExec => join.ownsLoop || givesRowByRow(join.probe)
    case _: LeafExecNode => true
    case generated: CodegenSupport => !generated.supportCodegen
    case _ => true
  }

  /** Whether a plan reads files that Spark cuts into so many partitions at least; false if it can't be told. */
  def hasPartitions(plan: SparkPlan, partitions: Int): Boolean = plan match {
    case scan: FileSourceScanExec =>
      // Another index of files may not know their size.
      val isCut = (scan.relation.fileFormat, scan.relation.location) match {
        case (_: ParquetFileFormat | _: OrcFileFormat, _: PartitioningAwareFileIndex) =>
          !scan.bucketedScan && scan.partitionFilters.isEmpty &&
          scan.conf.filesMinPartitionNum.forall(_ >= partitions)
        case _ => false
      }
      isCut && scan.relation.location.sizeInBytes >= partitions * scan.conf.filesOpenCostInBytes
    case _: ProjectExec | _: FilterExec | _: ColumnarToRowExec | _: InputAdapter =>
      hasPartitions(plan.children.head, partitions)
    case _ => false
  }
}
