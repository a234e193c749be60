package thetajoin.planner

import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight}
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.sql.internal.SQLConf

import thetajoin.Settings
import thetajoin.reason.{Reason, ReasonCode}

/** The join of a stream with a table: its rows stay where they are, and the table is broadcast. */
private[planner] object BesideStream {

  /**
   * An index of the table is kept for later micro-batches, so that it may be larger than where it is made for one
   * query.
   */
  def of(
      join: Join,
      tiers: Seq[Seq[Placement]],
      conf: SQLConf
  ): Either[Reason, Seq[Seq[Placement]]] = {
    val table = Placement.Broadcast(if (join.left.isStreaming) BuildRight else BuildLeft)
    val bytes = Sizes.size(join, table.buildSide)
    if (tiers.exists(_.contains(table)) || bytes <= Settings.BroadcastMaxBytes.in(conf))
      Right(Seq(Seq(table)))
    else Left(ReasonCode.Streaming(s"the table has $bytes bytes"))
  }
}
