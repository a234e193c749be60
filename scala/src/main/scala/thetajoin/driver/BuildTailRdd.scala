package thetajoin.driver

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.{HashPartitioner, Partitioner}

import thetajoin.rowstore.ThetaRelation

/** In place of a partition's probe rows: the build rows that have found no match among them. */
final class MarkedRows(val unmatched: UnmatchedRows) extends GenericInternalRow(0)

/**
 * Finds which build rows have a match anywhere, without collecting a row: each task of the probe side marks
 * bits, the bits of a slice of positions meet in one partition, and that partition emits the slice's rows.
 */
private[thetajoin] object BuildTailRdd {
  private val RowsPerSlice = 1 << 16

  /** Each partition of probe rows as one row of [[MarkedRows]]. */
  def marks(
      probe: RDD[InternalRow],
      broadcast: Broadcast[ThetaRelation],
      marker: MatchMarkerFactory
  ): RDD[InternalRow] = probe.mapPartitionsWithIndex { (partition, rows) =>
    val relation = broadcast.value
    val unmatched = new UnmatchedRows(relation.store.rows)
    val mark = marker.newMarker(relation, partition)
    while (rows.hasNext && !unmatched.isEmpty) mark.mark(rows.next(), unmatched)
    Iterator.single(new MarkedRows(unmatched))
  }

  /** The partitions that emit build rows, of the rows that [[marks]] gives. */
  def apply(
      marks: RDD[InternalRow],
      broadcast: Broadcast[ThetaRelation],
      emits: Existence
  ): RDD[InternalRow] = {
    val rows = broadcast.value.store.rows
    val slices = math.max(
      1,
      math.min((rows + RowsPerSlice - 1) / RowsPerSlice, marks.sparkContext.defaultParallelism)
    )
    val sliceRows = ((rows + slices - 1) / slices + 63) & ~63
    val bits = marks.mapPartitions(_.flatMap { row =>
      val unmatched = row.asInstanceOf[MarkedRows].unmatched
      Iterator.tabulate(slices) { slice =>
        val first = math.min(slice * sliceRows, rows)
        (slice, unmatched.slice(first, math.min(first + sliceRows, rows)))
      }
    })
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
