package thetajoin.planner

import org.apache.spark.sql.catalyst.optimizer.BuildSide

/** How the rows of both sides come to meet. */
sealed trait Placement {
  def buildSide: BuildSide
}

object Placement {

  /** One side is broadcast, the other stays where it is. */
  final case class Broadcast(buildSide: BuildSide) extends Placement

  /** Both sides are partitioned by the equality keys. */
  final case class Shuffle(buildSide: BuildSide) extends Placement

  /**
   * One side is cut into blocks of up to so many bytes. Each block meets all rows of the other side, or all rows of
   * its partition by the equality keys.
   */
  final case class Blocks(buildSide: BuildSide, bytes: Long) extends Placement
}
