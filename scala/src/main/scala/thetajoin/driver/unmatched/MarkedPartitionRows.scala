package thetajoin.driver.unmatched

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.driver.JoinRole
import thetajoin.driver.source.PartitionRows
import thetajoin.relation.ThetaRelation

/**
 * [[PartitionRows]] where build rows come out by whether they match one of the probe rows. Pairs come first, if they
 * are part of the result: each probe row is looked at on its way.
 */
final class MarkedPartitionRows(
    relation: ThetaRelation,
    join: Int,
    probe: Iterator[InternalRow],
    marker: MatchMarker,
    role: JoinRole
) extends PartitionRows(relation, join, probe)
    with EndsWithTail {
  private val unmatched = new UnmatchedRows(relation.store.rows)
  private var isTailGiven = false

  override def hasNext: Boolean = !isTailGiven

  override def next(): InternalRow =
    if (role.pairs && probe.hasNext) {
      val row = probe.next()
      if (!unmatched.isEmpty) marker.mark(row, unmatched)
      row
    } else {
      while (!unmatched.isEmpty && probe.hasNext) marker.mark(probe.next(), unmatched)
      marker.finish(unmatched)
      isTailGiven = true
      null
    }

  override def tail: BuildTail = {
    val rows = relation.store.rows
    val found = unmatched.slice(0, rows)
    if (found.raises(found.matched)) found.raise()
    new BuildTail(found.matched, 0, rows, BuildTailRdd.emits(role))
  }
}
