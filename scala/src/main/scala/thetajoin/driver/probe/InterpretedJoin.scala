package thetajoin.driver.probe

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.BooleanType

import thetajoin.aggregate.RunFold
import thetajoin.driver.unmatched.{BuildTail, EndsWithTail}
import thetajoin.driver.{Existence, JoinMetrics, JoinTask}
import thetajoin.relation.ThetaRelation
import thetajoin.rowstore.BuildRowView

/**
 * The join over one partition without generated code for the whole stage: a cursor over candidates that gives a row at
 * a time, so that a probe row's matches are never held together.
 *
 * @param rowsTogether how many probe rows are looked up together; 0 for one at a time
 */
final class InterpretedJoin(
    task: JoinTask,
    relation: ThetaRelation,
    metrics: Map[String, SQLMetric],
    partition: Int,
    rowsTogether: Int
) {
  private val types = task.stored.map(_.dataType).toArray
  private val finder = new MatchFinder(task, relation, partition, inBatches = rowsTogether > 0)
  private val buildRow = new BuildRowView(relation.store, types)
  private val noBuildRow = new GenericInternalRow(types.length)
  private def ofBuild(p: Int): InternalRow = finder.fold.fold(buildRow.at(p))(_.of(p, p + 1))
  private def ofNoBuild: InternalRow = finder.fold.fold[InternalRow](noBuildRow)(_.ofNone)
  private val noProbeRow = new GenericInternalRow(task.probeOutput.size)
  private val outputRows = metrics(JoinMetrics.OutputRows)
  private val candidateRows = metrics(JoinMetrics.CandidateRows)
  private val matches = metrics(JoinMetrics.Matches)
  private val ranked = task.rank.map(new LowestRanks(task, _, buildRow, finder.candidates))

  def run(probe: Iterator[InternalRow]): Iterator[InternalRow] = {
    JoinMetrics.timeProbe(metrics(JoinMetrics.ProbeTime))
    val started =
      if (rowsTogether > 0) new StartedTogether(probe, finder, rowsTogether)
      else probe.map { row =>
        if (row != null) finder.start(row)
        row
      }
    def tail = probe.asInstanceOf[EndsWithTail].tail
    val rows = task.role.probeExistence match {
      case Some(kind) => existence(started, kind)
      case None => pairs(started, tail)
    }
    rows.map { row =>
      outputRows += 1
      row
    }
  }

  private def existence(probe: Iterator[InternalRow], kind: Existence): Iterator[InternalRow] = {
    val marked = new JoinedRow
    val flag = new GenericInternalRow(1)
    val output = kind match {
      case Existence.Marked =>
        val exists = AttributeReference("exists", BooleanType, nullable = false)()
        UnsafeProjection.create(task.probeOutput :+ exists, task.probeOutput :+ exists)
      case _ => UnsafeProjection.create(task.probeOutput, task.probeOutput)
    }
    probe.flatMap { row =>
      val found = hasMatch(row)
      kind match {
        case Existence.Marked =>
          flag.update(0, found)
          Iterator.single(output(marked(row, flag)))
        case _ if found == (kind == Existence.Matched) => Iterator.single(output(row))
        case _ => Iterator.empty
      }
    }
  }

  private def hasMatch(row: InternalRow): Boolean = {
    var held: Throwable = null
    while (finder.candidates.next()) {
      var p = finder.candidates.from
      while (p < finder.candidates.until) {
        candidateRows += 1
        try
          if (finder.matches(row, finder.candidates.position(p))) {
            matches += 1
            return true
          }
        catch { case NonFatal(e) if task.holdsErrors => if (held == null) held = e }
        p += 1
      }
    }
    if (held != null) throw held
    false
  }

  private def pairs(probe: Iterator[InternalRow], tail: => BuildTail): Iterator[InternalRow] = {
    val exists = task.role.buildExistence.collect { case Existence.Marked =>
      AttributeReference("exists", BooleanType, nullable = false)()
    }
    val nullable = (task.probeOutput ++ task.buildOutput).map(_.withNullability(true))
    val output = UnsafeProjection.create(
      if (task.role.buildExistence.isDefined) task.stored ++ exists
      else task.outputOrder(task.probeOutput, task.buildOutput).map(_.withNullability(true)),
      nullable ++ exists
    )
    val joined, withFlag = new JoinedRow
    val flag = new GenericInternalRow(1)
    def ofTail(rows: BuildTail): Iterator[InternalRow] = {
      finder.candidates.buildRows(rows)
      runs(() => finder.candidates.next()).map { p =>
        joined(noProbeRow, ofBuild(p))
        if (exists.isEmpty) output(joined)
        else {
          flag.update(0, finder.candidates.matched)
          output(withFlag(joined, flag))
        }
      }
    }
    def nextRun(): Boolean = {
      val more = finder.candidates.next()
      if (more) candidateRows += finder.candidates.until - finder.candidates.from
      more
    }
    def folded(row: InternalRow, fold: RunFold): Iterator[InternalRow] =
      Iterator.continually(nextRun()).takeWhile(identity).flatMap { _ =>
        val (from, until) = (finder.candidates.from, finder.candidates.until)
        if (finder.candidates.areFound && !finder.candidates.listsPositions) {
          matches += fold.rows(from, until)
          Iterator.single(output(joined(row, fold.ofWhole(from, until))))
        } else
          Iterator.range(from, until).map(finder.candidates.position).filter(finder.matches(row, _))
            .map { p =>
              matches += 1
              output(joined(row, ofBuild(p)))
            }
      }
    def ofRow(row: InternalRow): Iterator[InternalRow] = {
      val matching = runs(nextRun _).filter(finder.matches(row, _))
      val chosen = ranked match {
        case Some(lowest) => lowest.of(row, matching)
        case None => task.limit.fold(matching)(matching.take)
      }
      val pairs = chosen.map { p =>
        matches += 1
        output(joined(row, ofBuild(p)))
      }
      val rows =
        finder.fold.filter(_ => task.foldsRuns).fold[Iterator[InternalRow]](pairs)(folded(row, _))
      if (task.role.padsProbe && rows.isEmpty) Iterator.single(output(joined(row, ofNoBuild)))
      else rows
    }
    probe.flatMap(row => if (row == null) ofTail(tail) else ofRow(row))
  }

  /** The positions of all runs, one after another. */
  private def runs(nextRun: () => Boolean): Iterator[Int] = new Iterator[Int] {
    private var p = 0
    private var end = 0

    override def hasNext: Boolean = {
      if (p >= end && nextRun()) {
        p = finder.candidates.from
        end = finder.candidates.until
      }
      p < end
    }

    override def next(): Int = {
      if (!hasNext) throw new NoSuchElementException
      p += 1
      finder.candidates.position(p - 1)
    }
  }
}
