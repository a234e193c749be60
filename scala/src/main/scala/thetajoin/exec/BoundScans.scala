package thetajoin.exec

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.execution.adaptive.BroadcastQueryStageExec
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.{FileSourceScanExec, FilterExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.types._

import thetajoin.accelerator.KeyBounds
import thetajoin.condition.OrderedLong
import thetajoin.rowstore.ThetaRelation

/**
 * Where the index of a semi join is there before its probe side is read, as adaptive execution has it, the Parquet scan of the
 * probe side is told between which values its key has to lie: files and row groups outside of them are not read.
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
    (join.right, join.probeKeys) match {
      case (stage: BroadcastQueryStageExec, OrderedLong(key: Attribute) +: _)
          if stage.isMaterialized =>
        val relation = stage.executeBroadcast[ThetaRelation]().value
        relation.index match {
          case index: KeyBounds if relation.always == 0 && index.least <= index.greatest =>
            for {
              least <- literal(index.least, key.dataType)
              greatest <- literal(index.greatest, key.dataType)
              probe <- push(join.left, key, least, greatest)
            } yield probe
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
    case scan: FileSourceScanExec if scan.relation.fileFormat.isInstanceOf[ParquetFileFormat] =>
      column(scan, key).map { column =>
        val bounds =
          Seq(GreaterThanOrEqual(column, least), LessThanOrEqual(column, greatest))
        withDataFilters(scan, scan.dataFilters ++ bounds)
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

  /** The key under the scan's own name, if it is read from the files: a partition's value may differ from what they hold. */
  private def column(scan: FileSourceScanExec, key: Attribute): Option[Attribute] =
    scan.output.find { a =>
      a.exprId == key.exprId && scan.requiredSchema.fieldNames.contains(a.name) &&
      !scan.relation.partitionSchema.exists(field => conf.resolver(field.name, a.name))
    }

  /** Spark versions differ in the constructor. */
  private def withDataFilters(scan: FileSourceScanExec, filters: Seq[Expression]): SparkPlan = {
    val arguments = scan.productIterator.map(_.asInstanceOf[AnyRef]).toArray
    arguments(scan.productElementNames.indexOf("dataFilters")) = filters
    scan.makeCopy(arguments)
  }

  /** A value of a type whose numbers are its order, if a pushed filter has it exactly. */
  private def literal(value: Long, dataType: DataType): Option[Literal] = dataType match {
    case ByteType => Some(Literal(value.toByte, dataType))
    case ShortType => Some(Literal(value.toShort, dataType))
    case IntegerType => Some(Literal(value.toInt, dataType))
    case LongType => Some(Literal(value, dataType))
    case DateType if isModern(value) => Some(Literal(value.toInt, dataType))
    case TimestampType if isModern(Math.floorDiv(value, MICROS_PER_DAY)) =>
      Some(Literal(value, dataType))
    case _ => None
  }

  /** Whether all calendars agree on a day, which pushed filters take through Java's types: years 1900 to 9999. */
  private def isModern(day: Long): Boolean = day >= -25567L && day <= 2932896L
}
