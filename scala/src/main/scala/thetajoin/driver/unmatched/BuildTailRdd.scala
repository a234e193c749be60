package thetajoin.driver.unmatched

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.{HashPartitioner, Partitioner}

import thetajoin.driver.{Existence, JoinRole}
import thetajoin.relation.{ReceivedRelation, ThetaRelation}

/** In place of a partition's probe rows: the build rows that have found no match among them. */
final class MarkedRows(val unmatched: UnmatchedRows) extends GenericInternalRow(0)

/**
 * Finds which build rows have a match anywhere, without collecting a row: each task of the probe side marks
 * bits, the bits of a slice of positions meet in one partition, and that partition emits the slice's rows.
 */
private[thetajoin] object BuildTailRdd {
  private val RowsPerSlice = 1 << 16

  /**
   * Each partition of probe rows as one row of [[MarkedRows]].
   *
   * @param endsEarly whether no more are read once every build row has a match
   */
  def marks(
      probe: RDD[InternalRow],
      broadcast: Broadcast[ThetaRelation],
      marker: MatchMarkerFactory,
      endsEarly: Boolean
  ): RDD[InternalRow] = probe.mapPartitionsWithIndex { (partition, rows) =>
    val relation = ReceivedRelation.of(broadcast)
    val unmatched = new UnmatchedRows(relation.store.rows)
    val mark = marker.newMarker(relation, partition)
    while (!(endsEarly && unmatched.isEmpty) && rows.hasNext) mark.mark(rows.next(), unmatched)
    mark.finish(unmatched)
    Iterator.single(new MarkedRows(unmatched))
  }

  /** The partitions that emit build rows, of the rows that [[marks]] gives. */
  def apply(
      marks: RDD[InternalRow],
      broadcast: Broadcast[ThetaRelation],
      emits: Existence
  ): RDD[InternalRow] = {
    val slices = Slices(marks, broadcast)
    val bits = marks.mapPartitions(_.flatMap { row =>
      val unmatched = row.asInstanceOf[MarkedRows].unmatched
      slices.tabulate(unmatched.slice)
    })
    new ShuffledRDD[Int, MatchedSlice, MatchedSlice](bits, slices.partitioner)
      .mapPartitionsWithIndex { (slice, parts) =>
        slices.tail(slice, parts.map { case (_, part) => part }, emits)
      }
  }

  /** The rows that a join's tail emits. */
  def emits(role: JoinRole): Existence = role.buildExistence.getOrElse(Existence.Unmatched)

  /** The positions of so many build rows, cut into slices of a multiple of 64. */
  private final case class Slices(rows: Int, count: Int) {
    private val size = ((rows + count - 1) / count + 63) & ~63

    def partitioner: Partitioner = new HashPartitioner(count)

    /** Each slice by its number. */
    def tabulate[A](slice: (Int, Int) => A): Iterator[(Int, A)] =
      Iterator.tabulate(count)(i => (i, slice(first(i), end(i))))

    /** The rows that a slice emits, by the marks that the tasks made for it. */
    def tail(slice: Int, parts: Iterator[MatchedSlice], emits: Existence): BuildTail = {
      val matched = new Array[Long]((end(slice) - first(slice) + 63) >> 6)
      val mayRaise = parts.flatMap { part =>
        matched.indices.foreach(i => matched(i) |= part.matched(i))
        if (part.failed == null) None else Some(part)
      }.toArray
      mayRaise.find(_.raises(matched)).foreach(_.raise())
      new BuildTail(matched, first(slice), end(slice), emits)
    }

    private def first(slice: Int): Int = math.min(slice * size, rows)
    private def end(slice: Int): Int = math.min(first(slice) + size, rows)
  }

  private object Slices {
    def apply(tasks: RDD[_], broadcast: Broadcast[ThetaRelation]): Slices = {
      val rows = broadcast.value.store.rows
      val needed = (rows + RowsPerSlice - 1) / RowsPerSlice
      Slices(rows, math.max(1, math.min(needed, tasks.sparkContext.defaultParallelism)))
    }
  }
}
