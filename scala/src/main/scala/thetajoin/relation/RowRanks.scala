package thetajoin.relation

import java.util.{Arrays, Comparator}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.thetabridge.Cancellation
import org.apache.spark.sql.types.DataType

import thetajoin.condition.Safety
import thetajoin.kit.ValueOrder
import thetajoin.rowstore.BuildRowView

/**
 * The places of build rows in an order of build columns, as numbers: a top-k join compares these in place of texts or
 * structs of each pair.
 */
object RowRanks {

  /** Whether an order has numbers: it reads build columns alone, and they give each row a value of its own. */
  def exist(order: SortOrder, stored: Seq[Attribute]): Boolean =
    order.references.subsetOf(AttributeSet(stored)) && order.child.deterministic &&
      Safety.cannotFail(order.child)

  /** By position; equal values have the same number, and nulls have -1. A JVM makes them once. */
  def of(order: SortOrder, relation: ThetaRelation, stored: Seq[Attribute]): Array[Int] = {
    val value = BindReferences.bindReference(order.child, AttributeSeq(stored))
    val key = (RowRanks, value.canonicalized, order.direction)
    relation.derived
      .computeIfAbsent(key, _ => made(value, order.direction, relation, stored.map(_.dataType)))
      .asInstanceOf[Array[Int]]
  }

  private def made(
      value: Expression,
      direction: SortDirection,
      relation: ThetaRelation,
      types: Seq[DataType]
  ): Array[Int] = {
    val (rows, cancellation) = (new BuildRowView(relation.store, types.toArray), new Cancellation)
    val evaluate = UnsafeProjection.create(value)
    val values = Array.tabulate[InternalRow](relation.indexed + relation.always) { position =>
      cancellation.count(1)
      evaluate(rows.at(position)).copy()
    }
    val order = ValueOrder.of(value.dataType, direction)
    val sorted = values.indices.filterNot(values(_).isNullAt(0)).map(Int.box).toArray
    Arrays.sort(sorted, Comparator.comparing[Integer, InternalRow](values(_), order))
    val ranks = Array.fill(values.length)(-1)
    sorted.indices.foreach { i =>
      val isEqual = i > 0 && order.equiv(values(sorted(i - 1)), values(sorted(i)))
      ranks(sorted(i)) = if (isEqual) ranks(sorted(i - 1)) else i
    }
    ranks
  }
}
