package thetajoin.aggregate

import scala.util.control.NonFatal

import org.apache.spark.TaskKilledException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.thetabridge.Cancellation

import thetajoin.Yardsticks
import thetajoin.contract.PositionSets
import thetajoin.relation.ThetaRelation
import thetajoin.rowstore.BuildRowView

/**
 * The buffers of a [[Fold]] for one run of build rows after another. Rows are added one by one until a task has added
 * as many as there are; then the build side gets a [[RunTree]], which other tasks find there. In the same way the
 * candidates of a probe row are given by [[PositionSets]] once probe rows have had many of them one by one.
 *
 * @param stored the columns of the build side
 * @param mayTakeSets whether it does not matter which rows are in a set
 */
final class RunFold(
    fold: Fold,
    relation: ThetaRelation,
    stored: Seq[Attribute],
    mayTakeSets: Boolean
) {
  private val rows = new BuildRowView(relation.store, stored.map(_.dataType).toArray)
  private val folded = new FoldedRow(fold, stored)
  private val ofSet = new UnsafeRow(folded.empty.numFields)
  private val (block, fewest) = (Yardsticks.FoldedBlock(), Yardsticks.FoldedRun())
  private val cancellation = new Cancellation
  private val manyListed = Yardsticks.ManyListed().toLong
  private var added, listed, asked = 0L
  private var asksSets = mayTakeSets

  /** Whether a run of the index is aggregated as a whole: a long one, or a set. */
  def isWhole(from: Int, until: Int): Boolean = until - from >= fewest || isSet(from)

  private def isSet(from: Int): Boolean = from >= relation.indexed

  /** The rows of such a run. */
  def rows(from: Int, until: Int): Int =
    if (isSet(from)) sets.get.rows(from - relation.indexed) else until - from

  /** Counts a run that the index gives. */
  def count(from: Int, until: Int): Unit = if (!isWhole(from, until)) listed += until - from

  /** At the end of a probe row: whether sets had better be given for the next ones. */
  def wantsSets(): Boolean = {
    asked += 1
    asksSets && listed > manyListed * asked && listed > manyListed / 4 * relation.indexed
  }

  /** Of a run that is aggregated as a whole. The row is used again for the next run. */
  def ofWhole(from: Int, until: Int): InternalRow =
    if (isSet(from)) {
      buffers.get.point(ofSet, from - relation.indexed)
      ofSet
    } else of(from, until)

  /** Of the positions `[from, until)`. The row is used again for the next run. */
  def of(from: Int, until: Int): InternalRow = {
    val nodes = if (until - from < 2 * block || added < relation.indexed) None else tree
    folded.row.copyFrom(folded.empty)
    nodes match {
      case None => add(from, until)
      case Some(blocks) =>
        val first = (from + block - 1) / block
        val end = math.min(until, blocks.positions) / block
        add(from, first * block)
        blocks.foreach(first, end)(folded.add(_))
        add(end * block, until)
    }
    folded.row
  }

  /** Of nulls in place of a row. */
  lazy val ofNone: InternalRow = {
    folded.row.copyFrom(folded.empty)
    folded.add(new GenericInternalRow(stored.size))
    folded.row.copy()
  }

  private def add(from: Int, until: Int): Unit = {
    var p = from
    while (p < until) {
      folded.add(rows.at(p))
      p += 1
    }
    added += until - from
    cancellation.count(until - from)
  }

  private lazy val tree: Option[RunTree] = derived("runs") {
    RunTree(
      relation.indexed / block,
      block,
      folded.row.numFields,
      folded.empty.getSizeInBytes,
      number => {
        folded.row.copyFrom(folded.empty)
        add(number * block, (number + 1) * block)
        folded.row
      },
      (left, right) => {
        folded.row.copyFrom(left)
        folded.add(right)
        folded.row
      }
    )
  }

  /** The sets of the index, if they have buffers. */
  lazy val sets: Option[PositionSets] = {
    asksSets = false
    positionSets.filter(_ => buffers.isDefined)
  }

  private lazy val positionSets: Option[PositionSets] =
    relation.derived.computeIfAbsent(classOf[PositionSets], _ => relation.index.positionSets)
      .asInstanceOf[Option[PositionSets]]

  private lazy val buffers: Option[SetBuffers] = positionSets.flatMap { sets =>
    derived("sets") {
      val ofNode = new FoldedRow(fold, stored)
      SetBuffers(
        sets,
        relation.indexed,
        ofNode,
        p => {
          ofNode.add(rows.at(p))
          cancellation.count(1)
        }
      )
    }
  }

  /** For all tasks. None if a function fails for rows that no probe row may need, or for all rows together. */
  private def derived[A](name: String)(made: => A): Option[A] = {
    val schema: AttributeSeq = fold.state ++ stored
    val functions = fold.updates.map(BindReferences.bindReference(_, schema).canonicalized)
    relation.derived.computeIfAbsent(
      (name, block, fold.initial, functions),
      _ =>
        try Some(made)
        catch { case NonFatal(e) if !e.isInstanceOf[TaskKilledException] => None }
    ).asInstanceOf[Option[A]]
  }
}
