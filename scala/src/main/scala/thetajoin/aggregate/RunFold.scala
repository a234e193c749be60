package thetajoin.aggregate

import scala.util.control.NonFatal

import org.apache.spark.TaskKilledException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.thetabridge.Cancellation

import thetajoin.Yardsticks
import thetajoin.relation.ThetaRelation
import thetajoin.rowstore.BuildRowView

/**
 * The buffers of a [[Fold]] for one run of build rows after another. Rows are added one by one until a task has added
 * as many as there are; then the build side gets a [[RunTree]], which other tasks find there.
 *
 * @param stored the columns of the build side
 */
final class RunFold(fold: Fold, relation: ThetaRelation, stored: Seq[Attribute]) {
  private val rows = new BuildRowView(relation.store, stored.map(_.dataType).toArray)
  private val joined = new JoinedRow
  private val empty = UnsafeProjection.create(fold.initial)(InternalRow.empty).copy()
  private val result = empty.copy()
  private val update = MutableProjection.create(fold.updates, fold.state ++ stored).target(result)
  private val merge =
    MutableProjection.create(fold.merges, fold.state ++ fold.others).target(result)
  private val block = Yardsticks.FoldedBlock()
  private val cancellation = new Cancellation
  private var added = 0L

  /** Of the positions `[from, until)`. The row is used again for the next run. */
  def of(from: Int, until: Int): InternalRow = {
    result.copyFrom(empty)
    if (until - from < 2 * block || added < relation.indexed) add(from, until)
    else
      tree match {
        case None => add(from, until)
        case Some(blocks) =>
          val first = (from + block - 1) / block
          val end = math.min(until, blocks.positions) / block
          add(from, first * block)
          blocks.foreach(first, end)(other => merge(joined(result, other)))
          add(end * block, until)
      }
    result
  }

  /** Of nulls in place of a row. */
  lazy val ofNone: InternalRow = {
    result.copyFrom(empty)
    update(joined(result, new GenericInternalRow(stored.size)))
    result.copy()
  }

  private def add(from: Int, until: Int): Unit = {
    var p = from
    while (p < until) {
      update(joined(result, rows.at(p)))
      p += 1
    }
    added += until - from
    cancellation.count(until - from)
  }

  private lazy val tree: Option[RunTree] = {
    val schema: AttributeSeq = fold.state ++ stored
    val functions = fold.updates.map(BindReferences.bindReference(_, schema).canonicalized)
    relation.derived.computeIfAbsent((block, fold.initial, functions), _ => made())
      .asInstanceOf[Option[RunTree]]
  }

  /** None if a function fails for rows that no probe row may need, or for all of them together. */
  private def made(): Option[RunTree] =
    try
      Some(RunTree(
        relation.indexed / block,
        block,
        result.numFields,
        empty.getSizeInBytes,
        number => {
          result.copyFrom(empty)
          add(number * block, (number + 1) * block)
          result
        },
        (left, right) => {
          result.copyFrom(left)
          merge(joined(result, right))
          result
        }
      ))
    catch { case NonFatal(e) if !e.isInstanceOf[TaskKilledException] => None }
    finally result.copyFrom(empty)
}
