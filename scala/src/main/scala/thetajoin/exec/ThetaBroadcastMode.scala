package thetajoin.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode

import thetajoin.accelerator.{IndexSpec, KeyErrors}
import thetajoin.rowstore.{RelationBuilder, ThetaRelation}

/**
 * Broadcasts the build side as a [[thetajoin.rowstore.ThetaRelation]]. Holds constants and expressions bound to the build side's
 * output only, so that the modes of equal joins are equal: two plans of the same query share a broadcast, and
 * adaptive execution finds its own again. See [[RelationBuilder]] for the fields.
 */
final case class ThetaBroadcastMode(
    accelerator: String,
    spec: IndexSpec,
    keys: Seq[Expression],
    filter: Option[Expression],
    stored: Seq[Expression],
    keepUnmatchable: Boolean
) extends BroadcastMode {

  /** Whether rows whose key is there already, or is null, are of no use, and keys may be evaluated without a net. */
  def isDistinct: Boolean =
    spec.isDistinct && spec.keyErrors == KeyErrors.Raised && filter.isEmpty && !keepUnmatchable

  override def transform(rows: Array[InternalRow]): Any =
    relation(rows.iterator)

  override def transform(rows: Iterator[InternalRow], sizeHint: Option[Long]): Any = relation(rows)

  def relation(rows: Iterator[InternalRow]): ThetaRelation = {
    val builder = new RelationBuilder(spec, keys, filter, stored, keepUnmatchable)
    rows.foreach(builder.add)
    builder.result()
  }

  override lazy val canonicalized: ThetaBroadcastMode =
    copy(
      keys = keys.map(_.canonicalized),
      filter = filter.map(_.canonicalized),
      stored = stored.map(_.canonicalized)
    )
}
