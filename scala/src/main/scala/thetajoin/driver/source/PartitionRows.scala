package thetajoin.driver.source

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.relation.ThetaRelation

/** The probe rows of a partition of a join, by the id of its node, and the build rows that they may match. */
class PartitionRows(val relation: ThetaRelation, val join: Int, probe: Iterator[InternalRow])
    extends Iterator[InternalRow] {
  override def hasNext: Boolean = probe.hasNext
  override def next(): InternalRow = probe.next()
}
