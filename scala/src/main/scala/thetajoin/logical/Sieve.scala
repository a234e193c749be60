package thetajoin.logical

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

import thetajoin.contract.IndexSpec

/**
 * Leaves out build rows that an index has no need of, task by task, before the others move: see [[IndexSpec.sieve]].
 *
 * @param keys the values of a row that the index takes
 */
final case class Sieve(spec: IndexSpec, keys: Seq[Expression], child: LogicalPlan)
    extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override protected def withNewChildInternal(newChild: LogicalPlan): Sieve =
    copy(child = newChild)
}
