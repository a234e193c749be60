package thetajoin.driver

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.relation.ThetaRelation

/** The probe rows of a partition of a join, by the id of its node, and the build rows that they may match. */
class PartitionRows(val relation: ThetaRelation, val join: Int, probe: Iterator[InternalRow])
    extends Iterator[InternalRow] {
  override def hasNext: Boolean = probe.hasNext
  override def next(): InternalRow = probe.next()
}

/**
 * The same, where the build rows that match none of the probe rows follow those: each row is looked at on its way. No error is held
 * back, as it is in existence joins.
 */
final class MarkedPartitionRows(
    relation: ThetaRelation,
    join: Int,
    probe: Iterator[InternalRow],
    marker: MatchMarker
) extends PartitionRows(relation, join, probe)
    with EndsWithTail {
  private val unmatched = new UnmatchedRows(relation.store.rows)
  private var isTailGiven = false

  override def hasNext: Boolean = !isTailGiven

  override def next(): InternalRow =
    if (super.hasNext) {
      val row = super.next()
      if (!unmatched.isEmpty) marker.mark(row, unmatched)
      row
    } else {
      isTailGiven = true
      null
    }

  override def tail: BuildTail = {
    val rows = relation.store.rows
    new BuildTail(unmatched.slice(0, rows).matched, 0, rows, Existence.Unmatched)
  }
}
