package thetajoin.driver.probe

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import thetajoin.aggregate.RunFold
import thetajoin.driver.JoinTask
import thetajoin.relation.ThetaRelation
import thetajoin.rowstore.BuildRowView

/**
 * Finds the candidates of a probe row and checks the residual on one, by Spark's expression evaluators.
 *
 * @param inBatches whether candidates are a group's
 */
final class MatchFinder(
    task: JoinTask,
    relation: ThetaRelation,
    partition: Int,
    inBatches: Boolean = false
) {
  private val keys = UnsafeProjection.create(task.probeKeys, task.probeOutput)
  private val passes = task.probeFilter.map(Predicate.create(_, task.probeOutput))
  // One by one: a conjunct that is null ends the check, as one that is false, and a later one may fail.
  private val residual = tests(task.residual)
  private val ofFound = tests(task.ofFound)
  private val buildRow = new BuildRowView(relation.store, task.stored.map(_.dataType).toArray)
  private val joined = new JoinedRow
  (passes ++ residual ++ ofFound).foreach(_.initialize(partition))

  private val asksKeys = !task.keysMayRaise || relation.store.rows > 0

  /** Set if aggregate functions take the rows. */
  val fold: Option[RunFold] =
    task.fold.map(new RunFold(_, relation, task.aggregated, task.mayFoldSets))
  val candidates = new Candidates(relation, inBatches, fold.filter(_ => task.foldsRuns).orNull)

  def start(row: InternalRow): Unit =
    if (!isAsked(row)) candidates.none()
    else {
      val key = evaluate(row)
      if (key == null) candidates.all()
      else if (isNull(key)) candidates.none()
      else candidates.probe(key)
    }

  /** For a row of a batch: the group by which its candidates are asked for later. */
  def group(row: InternalRow): Int =
    if (!isAsked(row)) Candidates.NoGroup
    else {
      val key = evaluate(row)
      if (key == null) Candidates.EveryGroup
      else if (isNull(key)) Candidates.NoGroup
      else candidates.group(key)
    }

  private def isAsked(row: InternalRow): Boolean = passes.forall(_.eval(row)) && asksKeys

  private def isNull(key: UnsafeRow): Boolean =
    !task.takesNullKeys && key.numFields > 0 && key.anyNull

  private def evaluate(row: InternalRow): UnsafeRow =
    if (!task.keysCanFail) keys(row)
    else
      try keys(row)
      catch { case NonFatal(_) => null }

  def matches(row: InternalRow, position: Int): Boolean =
    (if (candidates.areFound) ofFound else residual)
      .forall(_.eval(joined(row, buildRow.at(position))))

  private def tests(conjuncts: Seq[Expression]): Seq[BasePredicate] =
    conjuncts.map(Predicate.create(_, task.probeOutput ++ task.stored))
}
