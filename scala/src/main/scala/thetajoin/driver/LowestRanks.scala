package thetajoin.driver

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BindReferences,
  InterpretedOrdering,
  JoinedRow,
  SortOrder
}
import org.apache.spark.sql.types.DataType

import thetajoin.rowstore.BuildRowView

/**
 * Of a probe row's matches, which come in any order, those of lowest rank. No more than these are held. Of equal ranks those are
 * taken which the index has first.
 */
private[driver] final class LowestRanks(task: JoinTask, rank: SortOrder, buildRow: BuildRowView) {
  private val most = task.limit.get
  private val value = BindReferences.bindReference(rank.child, task.probeOutput ++ task.stored)
  private val joined = new JoinedRow

  /** The last of them is the first to go. */
  private val order: Ordering[RankedRow] = {
    val ofRank = InterpretedOrdering.forSchema(Seq[DataType](rank.dataType))
    Ordering.fromLessThan[RankedRow] { (a, b) =>
      val compared =
        if (rank.isAscending) ofRank.compare(a.rank, b.rank) else ofRank.compare(b.rank, a.rank)
      compared < 0 || compared == 0 && a.position < b.position
    }
  }

  /** In the order of rank. */
  def of(probe: InternalRow, matches: Iterator[Int]): Iterator[Int] = {
    val heap = mutable.PriorityQueue.empty[RankedRow](order)
    matches.foreach { position =>
      val rank = value.eval(joined(probe, buildRow.at(position)))
      if (rank != null) {
        val ranked = new RankedRow(InternalRow(rank), position)
        if (heap.size < most) heap.enqueue(ranked)
        else if (order.lt(ranked, heap.head)) {
          heap.dequeue()
          heap.enqueue(ranked)
        }
      }
    }
    heap.dequeueAll[RankedRow].reverseIterator.map(_.position)
  }
}

private final class RankedRow(val rank: InternalRow, val position: Int)
