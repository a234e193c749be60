package thetajoin.exec

import java.text.NumberFormat
import java.util.Locale

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.thetabridge.Collected

import thetajoin.planner.Estimate
import thetajoin.relation.{RepeatableRows, ThetaBroadcastMode}

/**
 * Gives the rows below a broadcast so that they can be read again, if the driver's heap is too full for a relation of
 * them. They are computed again, except for rows of a shuffle or a cached table: the heap could not hold them a
 * second time.
 *
 * Spark's pages tell of the index: the job that collects the rows has it in its description, and this node has the
 * number of rows while the index is built. That takes no job, so that Spark's progress bar can't show it.
 */
final case class RepeatableRowsExec(accelerator: String, child: SparkPlan)
    extends RowsInPlace
    with DriverMetrics {
  override def nodeName: String = "RepeatableRows"
  override def output: Seq[Attribute] = child.output

  override lazy val metrics: Map[String, SQLMetric] = Map(
    RepeatableRowsExec.Rows -> SQLMetrics.createMetric(sparkContext, "number of rows to index")
  )

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override def executeCollectIterator(): (Long, Iterator[InternalRow]) = {
    // Nodes that stand for a stage have no logical plan.
    val logical = child.find(_.logicalLink.isDefined).flatMap(_.logicalLink)
    val about = logical.map(rows => s" of about ${compact(Estimate.rows(rows))} rows")
    val first = collected(about.getOrElse(""))
    postMetrics(RepeatableRowsExec.Rows -> first.count)
    def again = collected(s" of ${compact(first.count)} rows, once more")
    (first.count, new RepeatableRows(first.rows, () => again.rows))
  }

  /** Spark's thread of the broadcast may have a description of the user's. */
  private def collected(ofRows: String): Collected = {
    val own = Option(sparkContext.getLocalProperty(RepeatableRowsExec.Description))
    val description = own.toSeq :+ s"index$ofRows for $accelerator"
    sparkContext.setJobDescription(description.mkString(": "))
    try Collected.of(child)
    finally sparkContext.setJobDescription(own.orNull)
  }

  private def compact(rows: BigInt): String =
    NumberFormat.getCompactNumberInstance(Locale.US, NumberFormat.Style.SHORT).format(
      rows.bigInteger
    )

  override protected def withNewChildInternal(newChild: SparkPlan): RepeatableRowsExec =
    copy(child = newChild)
}

private object RepeatableRowsExec {
  private val Rows = "rows"

  /** Where Spark keeps the description of a thread's jobs. */
  private val Description = "spark.job.description"
}

/**
 * Puts a [[RepeatableRowsExec]] below each of our broadcasts, and a [[SieveExec]] below that where the index keeps
 * fewer rows than it is given.
 */
object BuildRows extends Rule[SparkPlan] {
  override def apply(plan: SparkPlan): SparkPlan = plan.transform {
    case exchange @ BroadcastExchangeExec(mode: ThetaBroadcastMode, child)
        if !child.isInstanceOf[RepeatableRowsExec] =>
      val rows = if (mode.hasSieve) SieveExec(mode.spec, mode.keys, child) else child
      exchange.withNewChildren(Seq(RepeatableRowsExec(mode.accelerator, rows)))
  }
}
