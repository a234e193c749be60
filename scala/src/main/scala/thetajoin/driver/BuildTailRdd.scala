package thetajoin.driver

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.{HashPartitioner, Partitioner}

import thetajoin.rowstore.ThetaRelation

/**
 * Finds which build rows have a match anywhere, without collecting a row: each task of the probe side marks
 * bits, the bits of a slice of positions meet in one partition, and that partition emits the slice's rows.
 */
private[thetajoin] object BuildTailRdd {
  private val RowsPerSlice = 1 << 16

  def apply(
      probe: RDD[InternalRow],
      broadcast: Broadcast[ThetaRelation],
      marker: MatchMarkerFactory,
      emits: Existence
  ): RDD[InternalRow] = {
    val rows = broadcast.value.store.rows
    val slices = math.max(
      1,
      math.min((rows + RowsPerSlice - 1) / RowsPerSlice, probe.sparkContext.defaultParallelism)
    )
    val sliceRows = ((rows + slices - 1) / slices + 63) & ~63
    val bits = probe.mapPartitionsWithIndex { (partition, probeRows) =>
      val unmatched = new UnmatchedRows(rows)
      val mark = marker.newMarker(partition)
      while (probeRows.hasNext && !unmatched.isEmpty) mark.mark(probeRows.next(), unmatched)
      Iterator.tabulate(slices) { slice =>
        val first = math.min(slice * sliceRows, rows)
        (slice, unmatched.slice(first, math.min(first + sliceRows, rows)))
      }
    }
    new ShuffledRDD[Int, MatchedSlice, MatchedSlice](bits, new HashPartitioner(slices): Partitioner)
      .mapPartitionsWithIndex { (slice, parts) =>
        val first = math.min(slice * sliceRows, rows)
        val end = math.min(first + sliceRows, rows)
        val matched = new Array[Long]((end - first + 63) >> 6)
        val mayRaise = parts.flatMap { case (_, part) =>
          matched.indices.foreach(i => matched(i) |= part.matched(i))
          if (part.failed == null) None else Some(part)
        }.toArray
        mayRaise.find(_.raises(matched)).foreach(part => throw part.error)
        new BuildTail(matched, first, end, emits)
      }
  }

  /** What a join's tail emits. */
  def emits(role: JoinRole): Existence = role.buildExistence.getOrElse(Existence.Unmatched)
}
