package thetajoin.driver.probe

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BindReferences,
  BitwiseNot,
  BoundReference,
  InterpretedOrdering,
  JoinedRow,
  SortOrder
}
import org.apache.spark.sql.types.DataType

import thetajoin.condition.OrderedLong
import thetajoin.driver.JoinTask
import thetajoin.rowstore.BuildRowView

/**
 * The matches of lowest rank of a probe row, whose matches come in any order. No more than these are held. Of equal
 * ranks the ones are chosen that the index has first.
 */
private[driver] final class LowestRanks(
    task: JoinTask,
    rank: SortOrder,
    buildRow: BuildRowView,
    candidates: Candidates
) {
  private val most = task.limit.get
  private val value = BindReferences.bindReference(rank.child, task.probeOutput ++ task.stored)
  private val joined = new JoinedRow

  /** The highest of the ranks that are held, as a number. */
  private val number = if (OrderedLong.orders(rank.dataType)) {
    val ascending = OrderedLong(BoundReference(0, rank.dataType, nullable = false))
    Some(if (rank.isAscending) ascending else BitwiseNot(ascending))
  } else None

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
        if (heap.size == most)
          number.foreach(n => candidates.narrow(n.eval(heap.head.rank).asInstanceOf[Long]))
      }
    }
    heap.dequeueAll[RankedRow].reverseIterator.map(_.position)
  }
}

private final class RankedRow(val rank: InternalRow, val position: Int)
