package thetajoin.planner

import org.apache.spark.sql.catalyst.expressions.{Expression, PlanExpression, PythonUDF}
import org.apache.spark.sql.catalyst.optimizer.BuildSide
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.{
  HadoopFsRelation,
  LogicalRelation,
  PartitioningAwareFileIndex
}
import org.apache.spark.sql.internal.SQLConf

import thetajoin.Settings

/** When each executor may read the right side of an existence join for itself. */
private[planner] object Replication {

  /** In tiers, see [[EquiBuildSides]]; a hint asks for a broadcast. */
  def orBroadcast(
      join: Join,
      hinted: Option[BuildSide],
      conf: SQLConf,
      broadcasts: Seq[Placement]
  ): Seq[Seq[Placement]] =
    if (hinted.isEmpty && pays(join, conf)) Seq(Seq(Placement.Replicate), broadcasts)
    else Seq(broadcasts)

  /** Whether that takes less time than a job for a broadcast, and gives the same rows each time. */
  private def pays(join: Join, conf: SQLConf): Boolean = {
    val mostBytes = Settings.ReplicateMaxBuildBytes.in(conf)
    // A stage that reads a shuffle must read nothing else for adaptive execution to merge its small partitions.
    mostBytes > 0 && files(join.left, _ => true).exists(_.sizeInBytes <= MostProbeBytes) &&
    files(join.right, isRepeatable).exists { index =>
      index.sizeInBytes <= mostBytes && index.allFiles().size <= MostFiles
    }
  }

  /** What a plan reads, if that is one table of files below projections and filters, of expressions that are fit. */
  private def files(
      plan: LogicalPlan,
      areFit: Expression => Boolean
  ): Option[PartitioningAwareFileIndex] = plan match {
    case Project(columns, child) if columns.forall(areFit) => files(child, areFit)
    case Filter(condition, child) if areFit(condition) => files(child, areFit)
    case relation: LogicalRelation if !relation.isStreaming =>
      relation.relation match {
        case HadoopFsRelation(index: PartitioningAwareFileIndex, _, _, _, _, _) => Some(index)
        case _ => None
      }
    case _ => None
  }

  private def isRepeatable(e: Expression): Boolean =
    e.deterministic && !e.exists {
      case _: PlanExpression[_] | _: PythonUDF => true
      case _ => false
    }

  /** One task reads them one after another. */
  private val MostFiles = 4

  /** A row group of Parquet: where there are several, the bounds of a broadcast index may rule some out. */
  private val MostProbeBytes = 128L << 20
}
