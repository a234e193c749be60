package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.types.BooleanType

import thetajoin.aggregate.Run
import thetajoin.codegen.{ExpressionCode, KeptColumns}
import thetajoin.driver.{Existence, JoinMetrics, JoinTask}

/**
 * The pairs of a probe row, as Java text: for each run of its candidates, for each position, the residual, then the
 * code that consumes a row.
 *
 * @param firstRows set if a probe row is joined with the first of its matches
 */
private[driver] final class PairsCode(
    ctx: CodegenContext,
    task: JoinTask,
    relation: RelationCode,
    matching: MatchCode,
    counters: CounterCode,
    firstRows: Option[FirstRowsCode]
) {
  import JoinMetrics.{Matches, OutputRows}

  private val role = task.role
  private val candidates = relation.candidates
  private val runs =
    new RunsCode(ctx, task, relation, counters, countsCandidates = firstRows.isEmpty)
  import runs.{found, from, until}

  /**
   * Ahead of a probe row's pairs: `start` sets its candidates. A top-k join chooses the first k matches here, and the
   * residual is done.
   */
  def begin(probe: Seq[ExprCode], start: String): String = {
    val chosen = firstRows.map(f => s"${f.choose(probe)}\n$candidates.choose(${f.rows});")
    s"$found = false;\n$start\n${chosen.mkString}"
  }

  /** Ahead of build rows that come out by themselves. */
  def beginTail: String = s"$found = true;"

  /** The search for the next match. */
  def nextRow(probe: Seq[ExprCode]): MatchSearch =
    if (firstRows.isDefined) NoSearch
    else matching.search(probe, relation.candidateColumns(), held = None)

  /** All runs of the probe row that `start` was called for, after the search for their rows was prepared. */
  def apply(
      probe: Seq[ExprCode],
      probeIsTail: Option[String],
      consumer: RowConsumer,
      stop: Option[String],
      search: MatchSearch
  ): String = {
    val end = ctx.freshName("end")
    val emitted = ctx.freshName("emitted")
    val (prepare, loops) = consumer.standalone match {
      case Some(read) => loopMethods(probe, probeIsTail, search, consumer, read, end, emitted)
      case None => ("", loopInPlace(probe, probeIsTail, search, consumer, stop, end, emitted))
    }
    // The padded row, which ends at 0, is the last.
    val afterPadded = if (role.padsProbe) s"if ($end == 0) break;" else ""
    s"""
       |$prepare
       |while (${runs.next(probeIsTail)}()) {
       |  final int $end = $until;
       |  ${setRunRows(from, end)}
       |  long $emitted = 0L;
       |  $loops
       |  $from = $end;
       |  ${countRun(emitted, probeIsTail)}
       |  $afterPadded
       |}""".stripMargin
  }

  /** The loop over a run. */
  private def loopInPlace(
      probe: Seq[ExprCode],
      probeIsTail: Option[String],
      search: MatchSearch,
      consumer: RowConsumer,
      stop: Option[String],
      end: String,
      emitted: String
  ): String = {
    val columns = relation.newColumns()
    val p = ctx.freshName("position")
    val run = Option.when(foldsRuns)(Run(s"$runRows > 0", end))
    val after = run.fold(s"$p + 1")(r => s"(${r.isRun} ? $end : $p + 1)")
    val padded = if (role.padsProbe) Some(ctx.freshName("padded")) else None
    val next = (padded ++ probeIsTail).reduceOption(_ + " || " + _).fold(search)(search.unless)
    val leave = stop.map { s =>
      s"""
         |if ($s) {
         |  $from = $after;
         |  ${countRun(emitted, probeIsTail)}
         |  return;
         |}""".stripMargin
    }.getOrElse("")
    val loop =
      s"""
         |${padded.map(flag => s"final boolean $flag = $from < 0;").mkString}
         |for (int $p = ${next(from, end)}; $p < $end; $p = ${next(after, end)}) {
         |  $emitted += 1L;
         |  ${emit(probe, columns, p, padded, consumer, run)}
         |  $leave
         |}""".stripMargin
    s"${columns.declareLocals}\n$loop"
  }

  /**
   * Text ahead of all runs, and the loop over a run in methods, which the JIT compiles as a whole, where it compiles
   * a loop in place from its middle on and with an uncertain result. A run of pairs, and one that is no pair (the
   * padded row, or build rows by themselves) have methods of their own: columns are null in the second only.
   */
  private def loopMethods(
      probe: Seq[ExprCode],
      probeIsTail: Option[String],
      search: MatchSearch,
      consumer: RowConsumer,
      read: AttributeSet,
      end: String,
      emitted: String
  ): (String, String) = {
    val evaluated = ExpressionCode.evaluate(probe, task.probeOutput, read)
    val kept = new KeptColumns(ctx, task.probeOutput, probe, read)
    def method(
        search: MatchSearch,
        probe: Seq[ExprCode],
        padded: Option[String],
        isPair: Boolean
    ) = {
      val columns = relation.newColumns()
      val (name, p) = (ctx.freshName("pairs"), ctx.freshName("position"))
      def of(run: Option[Run]) = emit(probe, columns, p, padded, consumer, run)
      val ofRow = of(None)
      def loopTo(end: String): String = {
        val (first, next) = (search(p, end), search(s"$p + 1", end))
        val count = if (search == NoSearch) "" else "emitted += 1L;"
        s"for ($p = $first; $p < $end; $p = $next) {\n$count\n$ofRow\n}"
      }
      val loop = MatchCode.inBlocks(p, "until")(loopTo)
      val ofAll = run("from", "until").filter(_ => isPair).fold(loop) { r =>
        s"if (${r.isRun}) {\n${of(Some(r.copy(isRun = "true")))}\nemitted = 1L;\n} else {\n$loop\n}"
      }
      val isOnlyPadded = !isPair && probeIsTail.isEmpty
      ctx.addNewFunction(
        name,
        s"""
           |private long $name(int from, int until) {
           |  ${columns.declareLocals}
           |  ${kept.declareLocals}
           |  ${padded.map(flag =>
            s"final boolean $flag = ${if (isOnlyPadded) "true" else "from < 0"};"
          ).mkString}
           |  long emitted = ${if (search == NoSearch) "until - from" else "0L"};
           |  ${consumer.enterLoop}
           |  int $p = from;
           |  ${if (isOnlyPadded) ofRow else ofAll}
           |  ${consumer.leaveLoop}
           |  return emitted;
           |}""".stripMargin
      )
    }
    val ofPairs =
      s"$emitted = ${method(search, ofPair(kept.locals), None, isPair = true)}($from, $end);"
    val noPair = (if (role.padsProbe) Some(s"$from < 0") else None) ++ probeIsTail
    val loops =
      if (noPair.isEmpty) ofPairs
      else {
        val padded = if (role.padsProbe) Some(ctx.freshName("padded")) else None
        s"""
           |if (${noPair.mkString(" || ")}) {
           |  $emitted = ${method(NoSearch, kept.locals, padded, isPair = false)}($from, $end);
           |} else {
           |  $ofPairs
           |}""".stripMargin
      }
    (s"$evaluated\n${kept.set}", loops)
  }

  private lazy val runRows = ctx.freshName("runRows")
  private lazy val fold = relation.runs.filterNot(_ => relation.newColumns().isListed)
  private def foldsRuns = fold.isDefined

  private def setRunRows(from: String, until: String): String = run(from, until).zip(fold).map {
    case (r, fold) => s"final int $runRows = ${r.isRun} ? $fold.rows($from, $until) : 0;"
  }.mkString

  /** Set if aggregate functions may take a run as a whole: all of its rows match, and they are not listed. */
  private def run(from: String, until: String): Option[Run] =
    fold.map(f => Run(s"$candidates.areFound() && $f.isWhole($from, $until)", until))

  /** Text that hands a row to the consumer: of the build row at a place, or of all to the end of a run. */
  private def emit(
      probe: Seq[ExprCode],
      columns: BuildColumns,
      place: String,
      padded: Option[String],
      consumer: RowConsumer,
      run: Option[Run]
  ): String = {
    val build = columns.at(place, padded)
    relation.fold match {
      case None => consumer.emit(output(probe, build))
      case Some(fold) =>
        val (text, buffers) = fold(run, place, build)
        s"$text\n${consumer.emit(output(probe, buffers))}"
    }
  }

  private def output(probe: Seq[ExprCode], build: Seq[ExprCode]): Seq[ExprCode] =
    role.buildExistence match {
      case None => task.outputOrder(probe, build)
      case Some(Existence.Marked) =>
        val matched = JavaCode.variable(s"$candidates.matched()", BooleanType)
        build :+ ExprCode(EmptyBlock, FalseLiteral, matched)
      case Some(_) => build
    }

  /** Probe columns where there is a probe row: null only if the column is nullable. */
  private def ofPair(probe: Seq[ExprCode]): Seq[ExprCode] =
    probe.zip(task.probeOutput).map { case (variable, attribute) =>
      if (attribute.nullable) variable.copy() else variable.copy(isNull = FalseLiteral)
    }

  /** At the end of a run, or where it is left: `emitted` rows came of it. */
  private def countRun(emitted: String, probeIsTail: Option[String]): String = {
    val isPair = Seq(
      if (role.padsProbe) Some(s"$until > 0") else None,
      probeIsTail.map(tail => s"!($tail)")
    ).flatten
    val count =
      if (isPair.isEmpty) counters.add(emitted, Seq(OutputRows, Matches))
      else
        s"""
           |${counters.add(emitted, Seq(OutputRows))}
           |if (${isPair.mkString(" && ")}) ${counters.add(emitted, Seq(Matches))}""".stripMargin
    val folded = s"if ($runRows > 0) ${counters.add(s"$runRows - 1", Seq(Matches))}"
    val remember = if (role.padsProbe) s"$found |= $emitted > 0L;" else ""
    s"$count\n${if (foldsRuns) folded else ""}\n$remember"
  }

  /** A method that moves to the first row of a probe row, and says whether there is one. */
  def firstRow(search: MatchSearch): String = runs.firstRow(search)
}
