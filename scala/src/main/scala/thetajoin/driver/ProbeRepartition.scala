package thetajoin.driver

import thetajoin.Yardsticks

/**
 * Whether the probe rows of a broadcast join are moved to other tasks. The work of a join is pairs, not rows.
 */
sealed trait ProbeRepartition {

  /** Whether rows in so many partitions are moved, where so many rows are indexed. */
  def moves(partitions: Int, cores: Int, indexed: => Long): Boolean = this match {
    case ProbeRepartition.Never => false
    case ProbeRepartition.OverIdleCores => partitions < cores
    case ProbeRepartition.FromBuildRows(least) =>
      partitions < cores ||
      cores > 1 && indexed >= least && partitions < cores * Yardsticks.PartitionsOfCore()
    case ProbeRepartition.Always => cores > 1
  }
}

object ProbeRepartition {

  /** Rows stay where they are. */
  case object Never extends ProbeRepartition

  /** Where there are fewer partitions than cores. */
  case object OverIdleCores extends ProbeRepartition

  /**
   * The same, and unless there are several times more partitions if there are so many build rows: to look a probe row
   * up then takes far longer than to move it. Of the partitions of a file some may be empty, since Parquet files are
   * cut by bytes, and read by row groups.
   */
  final case class FromBuildRows(least: Long) extends ProbeRepartition

  /** Always: rows are few and pairs many, and an index gives neighbouring rows unlike numbers of candidates. */
  case object Always extends ProbeRepartition
}
