package thetajoin.aggregate

import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeMap,
  AttributeReference,
  ExprId,
  Expression,
  If
}

/**
 * Aggregate functions of build rows: a join gives their buffers for a run of matches in place of the rows.
 *
 * @param functions in their partial mode. They are Spark's own, which are merged in any order
 * @param buffers the columns of the buffers, which Spark's next aggregate merges
 */
final case class Fold(functions: Seq[AggregateExpression], buffers: Seq[Attribute]) {
  private def declarative: Seq[DeclarativeAggregate] =
    functions.map(_.aggregateFunction.asInstanceOf[DeclarativeAggregate])

  /** The buffers while rows are added. */
  def state: Seq[AttributeReference] = declarative.flatMap(_.aggBufferAttributes)

  /** The buffers that are merged with them. */
  def others: Seq[AttributeReference] = declarative.flatMap(_.inputAggBufferAttributes)

  /** The buffers of no row. */
  def initial: Seq[Expression] = declarative.flatMap(_.initialValues)

  /** The buffers with another row. */
  def updates: Seq[Expression] = functions.zip(declarative).flatMap { case (e, f) =>
    e.filter match {
      case None => f.updateExpressions
      case Some(filter) =>
        f.updateExpressions.zip(f.aggBufferAttributes).map { case (update, unchanged) =>
          If(filter, update, unchanged)
        }
    }
  }

  /** The buffers together with others. */
  def merges: Seq[Expression] = declarative.flatMap(_.mergeExpressions)

  /** With the numbers that any fold of equal functions has. */
  def canonicalized: Fold = copy(buffers = buffers.zipWithIndex.map { case (buffer, i) =>
    buffer.withExprId(ExprId(i.toLong)).canonicalized.asInstanceOf[Attribute]
  })

  /** The buffers of one row. */
  def ofOneRow: Seq[Expression] = {
    val first = AttributeMap(state.zip(initial))
    updates.map(_.transform { case a: Attribute => first.getOrElse(a, a) })
  }
}

object Fold {

  /** Whether rows may be repeated without an effect on the result. */
  def ignoresRepeats(e: AggregateExpression): Boolean =
    !e.isDistinct && (e.aggregateFunction match {
      case _: Min | _: Max | _: MinBy | _: MaxBy | _: First | _: Last | _: BitAndAgg | _: BitOrAgg =>
        isDeterministic(e)
      case _ => false
    })

  /** Whether it reads its input once for each row. The rows that First and Last choose are of no order in a join. */
  def isDeterministic(e: AggregateExpression): Boolean =
    (e.aggregateFunction.children ++ e.filter).forall(_.deterministic) &&
      (e.aggregateFunction match {
        case _: First | _: Last => true
        case other => other.deterministic
      })
}
