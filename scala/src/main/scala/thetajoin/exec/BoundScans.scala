package thetajoin.exec

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.execution.adaptive.BroadcastQueryStageExec
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.thetabridge.ScanFilters
import org.apache.spark.sql.execution.{FileSourceScanExec, FilterExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.types._

import org.apache.parquet.hadoop.ParquetInputFormat

import thetajoin.condition.OrderedLong
import thetajoin.contract.KeyBounds
import thetajoin.relation.ThetaRelation

/**
 * Where the index of a semi join is there before its probe side is read, as adaptive execution has it, the Parquet
 * scan of the probe side is told between which values its key has to lie: row groups outside of them are not read.
 * The key is one column of whole numbers, dates or timestamps.
 */
object BoundScans extends Rule[SparkPlan] with Logging {
  override def apply(plan: SparkPlan): SparkPlan = plan.transform {
    case join: BroadcastThetaJoinExec if join.needsMatch =>
      try bounded(join).fold[SparkPlan](join)(probe => join.withNewChildren(Seq(probe, join.right)))
      catch {
        case NonFatal(e) =>
          logWarning(s"thetajoin: the scan below ${join.nodeName} is not bounded by its keys", e)
          join
      }
  }

  /** The probe side, if its scan can be bounded. */
  private def bounded(join: BroadcastThetaJoinExec): Option[SparkPlan] =
    (join.right, join.join.probeKeys) match {
      case (stage: BroadcastQueryStageExec, OrderedLong(key: Attribute) +: _)
          if stage.isMaterialized =>
        val relation = stage.executeBroadcast[ThetaRelation]().value
        relation.index match {
          case index: KeyBounds if relation.always == 0 && index.least <= index.greatest =>
            bounds(index, key.dataType).flatMap { case (least, greatest) =>
              push(join.left, key, least, greatest)
            }
          case _ => None
        }
      case _ => None
    }

  private def push(
      plan: SparkPlan,
      key: Attribute,
      least: Literal,
      greatest: Literal
  ): Option[SparkPlan] = plan match {
    case scan: FileSourceScanExec
        if scan.relation.fileFormat.isInstanceOf[ParquetFileFormat] &&
          !scan.dataFilters.exists(ScanFilters.isPushed) =>
      column(scan, key).map { column =>
        withBounds(scan, GreaterThanOrEqual(column, least), LessThanOrEqual(column, greatest))
      }
    case filter: FilterExec if filter.condition.deterministic =>
      push(filter.child, key, least, greatest).map(child => filter.withNewChildren(Seq(child)))
    case project: ProjectExec if project.projectList.forall(_.deterministic) =>
      project.projectList.collectFirst {
        case a: Attribute if a.exprId == key.exprId => a
        case a @ Alias(child: Attribute, _) if a.exprId == key.exprId => child
      }.flatMap(push(project.child, _, least, greatest))
        .map(child => project.withNewChildren(Seq(child)))
    case _ => None
  }

  /**
   * The key under the scan's own name, if the files have it under that name: a partition's value may differ from the
   * value in its files, and a column that is found by its id may differ from the column that the files call so.
   */
  private def column(scan: FileSourceScanExec, key: Attribute): Option[Attribute] =
    if (conf.parquetFieldIdReadEnabled) None
    else scan.output.find { a =>
      a.exprId == key.exprId && scan.requiredSchema.fieldNames.contains(a.name) &&
      !scan.relation.partitionSchema.exists(field => conf.resolver(field.name, a.name))
    }

  /**
   * Bounds are compared with statistics, not with dictionaries: if bounds rule nothing out, as among keys without an
   * order, all dictionaries would be read and decoded for it. No other filter may have a use for them then. Spark
   * versions differ in the scan's constructor.
   */
  private def withBounds(scan: FileSourceScanExec, bounds: Expression*): SparkPlan = {
    val relation = scan.relation
    val options = relation.options + (ParquetInputFormat.DICTIONARY_FILTERING_ENABLED -> "false")
    val changed = Map(
      "relation" -> relation.copy(options = options)(relation.sparkSession),
      "dataFilters" -> (scan.dataFilters ++ bounds)
    )
    val arguments = scan.productElementNames.zip(scan.productIterator).map {
      case (name, argument) =>
        changed.getOrElse(name, argument).asInstanceOf[AnyRef]
    }
    scan.makeCopy(arguments.toArray)
  }

  /**
   * A bound of a type whose numbers are its order, if a pushed filter has it as it is. Narrower numbers may be cut
   * off when they are read. Filters take dates through Java's type, where some zones have left a day out: a bound is
   * a day wider.
   */
  private def bounds(index: KeyBounds, dataType: DataType): Option[(Literal, Literal)] = {
    val (least, greatest) = (index.least, index.greatest)
    dataType match {
      case IntegerType => Some((Literal(least.toInt), Literal(greatest.toInt)))
      case LongType => Some((Literal(least), Literal(greatest)))
      case DateType if isModern(least) && isModern(greatest) =>
        Some((Literal((least - 1).toInt, dataType), Literal((greatest + 1).toInt, dataType)))
      case TimestampType if isModern(day(least)) && isModern(day(greatest)) =>
        Some((Literal(least, dataType), Literal(greatest, dataType)))
      case _ => None
    }
  }

  private def day(micros: Long): Long = Math.floorDiv(micros, MICROS_PER_DAY)

  /** Whether all calendars agree on a day: from 1900 to 9999, but for a day at each end. */
  private def isModern(day: Long): Boolean = day > -25567L && day < 2932896L
}
