package thetajoin.driver.unmatched

import scala.annotation.unused
import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen._

import thetajoin.codegen.ExpressionCode
import thetajoin.driver.JoinTask
import thetajoin.driver.code.MarkCode
import thetajoin.driver.probe.{MatchFinder, StartedTogether}
import thetajoin.driver.source.ReferenceSource
import thetajoin.relation.ThetaRelation

/** Marks the build rows that match a probe row: an existence test, so that a marked row is not looked at again. */
abstract class MatchMarker {

  /** At once, or by [[finish]]. */
  def mark(row: InternalRow, unmatched: UnmatchedRows): Unit

  /** After the last row. */
  def finish(@unused unmatched: UnmatchedRows): Unit = ()
}

/** Makes a marker in each task. */
private[thetajoin] sealed trait MatchMarkerFactory extends Serializable {
  def newMarker(relation: ThetaRelation, partition: Int): MatchMarker
}

private[thetajoin] object MatchMarker extends Logging {

  /** For relations like the `sample`. */
  def factory(task: JoinTask, sample: ThetaRelation, codegen: Boolean): MatchMarkerFactory =
    if (task.rowsTogether > 0) new InBatchesFactory(task)
    else if (!codegen || !ExpressionCode.existsFor(task.evaluated)) new InterpretedFactory(task)
    else
      try generated(task, sample)
      catch {
        case NonFatal(e) =>
          logWarning(
            "thetajoin: generated code for matched build rows failed, going on without it",
            e
          )
          new InterpretedFactory(task)
      }

  private def generated(task: JoinTask, sample: ThetaRelation): MatchMarkerFactory = {
    val ctx = new CodegenContext
    val body = new MarkCode(ctx, task, new ReferenceSource(sample)).method("row", "unmatched")
    val text = s"""
      public Object generate(Object[] references) { return new GeneratedMarker(references); }

      class GeneratedMarker extends ${classOf[MatchMarker].getName} {
        private Object[] references;
        ${ctx.declareMutableStates()}

        public GeneratedMarker(Object[] references) {
          this.references = references;
          ${ctx.initMutableStates()}
        }

        $body

        ${ctx.declareAddedFunctions()}
      }"""
    val code = CodeFormatter.stripOverlappingComments(new CodeAndComment(
      text,
      ctx.getPlaceHolderToComments()
    ))
    CodeGenerator.compile(code)
    val place = ctx.references.indexWhere(_.asInstanceOf[AnyRef] eq sample)
    new GeneratedFactory(code, ctx.references.toArray.updated(place, null), place)
  }

  /** `place`: where the code looks for the relation among the references. */
  private final class GeneratedFactory(code: CodeAndComment, references: Array[Any], place: Int)
      extends MatchMarkerFactory {
    override def newMarker(relation: ThetaRelation, partition: Int): MatchMarker =
      CodeGenerator.compile(code)._1.generate(references.updated(place, relation))
        .asInstanceOf[MatchMarker]
  }

  private final class InterpretedFactory(task: JoinTask) extends MatchMarkerFactory {
    override def newMarker(relation: ThetaRelation, partition: Int): MatchMarker = {
      val candidates = new MarkedCandidates(task, new MatchFinder(task, relation, partition))
      (row: InternalRow, unmatched: UnmatchedRows) => {
        candidates.finder.start(row)
        candidates.mark(row, unmatched)
      }
    }
  }

  private final class InBatchesFactory(task: JoinTask) extends MatchMarkerFactory {
    override def newMarker(relation: ThetaRelation, partition: Int): MatchMarker = {
      val finder = new MatchFinder(task, relation, partition, inBatches = true)
      new BatchMarker(new MarkedCandidates(task, finder), task.rowsTogether)
    }
  }

  /** Collects rows that are best asked for together. */
  private final class BatchMarker(candidates: MarkedCandidates, most: Int) extends MatchMarker {
    private val rows = mutable.ArrayBuffer.empty[InternalRow]

    override def mark(row: InternalRow, unmatched: UnmatchedRows): Unit = {
      rows += row.copy()
      if (rows.size == most) finish(unmatched)
    }

    override def finish(unmatched: UnmatchedRows): Unit = {
      new StartedTogether(rows.iterator, candidates.finder, most)
        .foreach(candidates.mark(_, unmatched))
      rows.clear()
    }
  }

  /** Marks the candidates of the row on which the finder was started. */
  private final class MarkedCandidates(task: JoinTask, val finder: MatchFinder) {
    def mark(row: InternalRow, unmatched: UnmatchedRows): Unit =
      while (finder.candidates.next()) {
        val (lists, until) = (finder.candidates.listsPositions, finder.candidates.until)
        def next(place: Int) = if (lists) place else unmatched.next(place, until)
        var place = next(finder.candidates.from)
        while (place < until) {
          val p = finder.candidates.position(place)
          try if (!unmatched.isMatched(p) && finder.matches(row, p)) unmatched.mark(p)
          catch { case NonFatal(e) if task.holdsErrors => unmatched.hold(p, e) }
          place = next(place + 1)
        }
      }
  }
}
