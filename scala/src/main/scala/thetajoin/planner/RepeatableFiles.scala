package thetajoin.planner

import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.execution.datasources.orc.OrcFileFormat
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat

private[thetajoin] object RepeatableFiles {

  /**
   * Whether files give the same rows each time they are read. Where one that is gone or damaged is no error, a second look may find less. Which
   * lines of a text file are rows may depend on the columns that are read.
   */
  def apply(files: HadoopFsRelation): Boolean = {
    val hasRows = files.fileFormat match {
      case _: ParquetFileFormat | _: OrcFileFormat => true
      case _ => false
    }
    val options = new FileSourceOptions(CaseInsensitiveMap(files.options))
    hasRows && !options.ignoreMissingFiles && !options.ignoreCorruptFiles
  }
}
