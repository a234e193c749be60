package thetajoin.stream

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.expressions.PlanExpression
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, QueryStageExec}
import org.apache.spark.sql.execution.columnar.{InMemoryRelation, InMemoryTableScanExec}
import org.apache.spark.sql.execution.datasources.PartitionedFile
import org.apache.spark.sql.execution.thetabridge.Lasting

import thetajoin.exec.{ProbeRowsExec, RepeatableRowsExec, SieveExec}
import thetajoin.relation.ThetaBroadcastMode

/**
 * What an index is made of. If the keys of two plans are equal, an index of the rows of one is an index of the rows
 * of the other.
 *
 * @param sources what the leaves of the plan read
 * @param settings of the session: they decide how files are read
 */
private[stream] final class BuildRowsKey private (
    private val mode: ThetaBroadcastMode,
    private val plan: SparkPlan,
    private val sources: Seq[Any],
    private val settings: Map[String, String]
) {
  override def equals(other: Any): Boolean = other match {
    case that: BuildRowsKey =>
      (this eq that) || mode == that.mode && sources == that.sources &&
      settings == that.settings && plan == that.plan
    case _ => false
  }

  /** Plans may hold many rows. */
  override def hashCode: Int = mode.hashCode

  /** After the rows have been read. */
  def read(): Unit = sources.foreach {
    case rows: CachedRows => rows.read()
    case _ =>
  }
}

private[stream] object BuildRowsKey {

  /** None if it can't be told whether a second look would find the same rows. */
  def of(mode: ThetaBroadcastMode, rows: SparkPlan): Option[BuildRowsKey] = {
    val plan = asPlanned(rows)
    val sources = plan.collectLeaves().map(source)
    if (plan.exists(mayChange) || sources.exists(_.isEmpty)) None
    else
      Some(new BuildRowsKey(
        mode.canonicalized,
        plan.canonicalized,
        sources.flatten,
        rows.conf.getAllConfs
      ))
  }

  /** Without what Spark has put into the plan to run a part of it. */
  private def asPlanned(plan: SparkPlan): SparkPlan = plan match {
    case stage: QueryStageExec => asPlanned(stage.plan)
    case _: AQEShuffleReadExec | _: WholeStageCodegenExec | _: InputAdapter |
        _: ColumnarToRowExec | _: ProbeRowsExec | _: RepeatableRowsExec | _: SieveExec =>
      asPlanned(plan.children.head)
    case _ => plan.mapChildren(asPlanned)
  }

  private def mayChange(node: SparkPlan): Boolean = node match {
    case _: ObjectProducerExec | _: ObjectConsumerExec => true
    case _ => node.expressions.exists { e =>
        !e.deterministic || e.exists(_.isInstanceOf[PlanExpression[_]])
      }
  }

  private def source(leaf: SparkPlan): Option[Any] = leaf match {
    case scan: FileSourceScanExec => files(scan)
    case scan: InMemoryTableScanExec => Some(new CachedRows(scan.relation))
    case scan: RDDScanExec if Lasting.isOfMemory(scan.rdd) => Some(scan.rdd)
    case _: LocalTableScanExec | _: RangeExec => Some(())
    case _ => None
  }

  /**
   * The files as the scan lists them, and as they are now: Spark lists the files of a DataFrame once, and reads what
   * they hold when it runs. Delta's deleted rows are among their metadata.
   */
  private def files(scan: FileSourceScanExec): Option[Any] = {
    val files = scan.selectedPartitions.toPartitionArray
    lazy val conf =
      scan.relation.sparkSession.sessionState.newHadoopConfWithOptions(scan.relation.options)
    def now(file: PartitionedFile) = {
      val path = file.toPath
      val status = path.getFileSystem(conf).getFileStatus(path)
      (status.getLen, status.getModificationTime)
    }
    if (files.length > MostFiles) None
    else
      Some(files.toSeq.map { file =>
        (
          file.filePath,
          file.partitionValues,
          (file.fileSize, file.modificationTime),
          file.otherConstantMetadataColumnValues,
          now(file)
        )
      })
  }

  /** To ask for each takes as long as to read a small file. */
  private val MostFiles = 1000
}

/**
 * The rows of a cached table. They are known once they are all there, and two are the same if they have not been
 * dropped in between.
 */
private final class CachedRows(table: InMemoryRelation) {
  private var rows: Option[RDD[_]] = loaded

  private def loaded: Option[RDD[_]] =
    if (table.cacheBuilder.isCachedColumnBuffersLoaded) Some(table.cacheBuilder.cachedColumnBuffers)
    else None

  def read(): Unit = if (rows.isEmpty) rows = loaded

  override def equals(other: Any): Boolean = other match {
    case that: CachedRows => (this eq that) || rows.exists(that.rows.contains)
    case _ => false
  }

  override def hashCode: Int = 0
}
