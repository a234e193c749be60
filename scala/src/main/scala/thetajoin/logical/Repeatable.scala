package thetajoin.logical

import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  NonSQLExpression,
  PlanExpression,
  UserDefinedExpression
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/**
 * Plans that give the same rows each time they are read. Streams are none: Spark may keep state for a node
 * that a rule puts above them.
 */
private[thetajoin] object Repeatable {

  /** The plans that read files, and compute of their columns. */
  def apply(plan: LogicalPlan): Boolean = plan match {
    case _ if plan.isStreaming => false
    case table: LogicalRelation =>
      table.relation match {
        case files: HadoopFsRelation => apply(files)
        case _ => false
      }
    case _: LocalRelation | _: Range => true
    case _: Project | _: Filter | _: SubqueryAlias | _: View =>
      plan.expressions.forall(e => e.deterministic && !e.exists(isForeign)) &&
      plan.children.forall(apply(_))
    case _ => false
  }

  /**
   * Files of some formats. If a file that is gone or damaged is no error, a second look may find less. Which lines of
   * a text file are rows may depend on the columns that are read.
   */
  def apply(files: HadoopFsRelation): Boolean = {
    val hasRows = files.fileFormat match {
      case _: ParquetFileFormat | _: OrcFileFormat => true
      case _ => false
    }
    val options = new FileSourceOptions(CaseInsensitiveMap(files.options))
    hasRows && !options.ignoreMissingFiles && !options.ignoreCorruptFiles
  }

  private def isForeign(e: Expression): Boolean = e match {
    case _: PlanExpression[_] | _: UserDefinedExpression | _: NonSQLExpression => true
    case _ => false
  }
}
