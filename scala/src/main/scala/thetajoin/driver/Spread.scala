package thetajoin.driver

/** Whether probe rows are moved to other partitions than they come in. The work of a join is pairs, not rows. */
sealed trait Spread

object Spread {

  /** Rows stay where they are. */
  case object Never extends Spread

  /** Where there are fewer partitions than cores. */
  case object OverIdleCores extends Spread

  /**
   * The same, and unless there are several times more partitions if there are so many build rows: to look a probe row
   * up then takes far longer than to move it. Of the partitions of a file some may be empty, since Parquet files are
   * cut by bytes, and read by row groups.
   */
  final case class FromBuildRows(least: Long) extends Spread

  /** Always: rows are few and pairs many, and an index gives neighbouring rows unlike numbers of candidates. */
  case object Evenly extends Spread
}
