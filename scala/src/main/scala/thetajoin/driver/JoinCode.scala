package thetajoin.driver

import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.types.BooleanType

/**
 * The join as Java text. The pieces, in the order in which they run for a probe row:
 *
 * {{{
 *   start      the probe row's own condition and keys; sets `candidates`
 *   pairs      for each run, for each position: the residual, then what consumes a row
 *   singleRow  if a row comes out at most: up to the first match
 * }}}
 *
 * They are put into the loop of the operator that produces probe rows ([[fused]]), which may be left after any row of the join and resumed ([[fusedWithStops]]), or into a loop
 * of our own ([[ownLoop]]). They run for a row as it comes, or once a batch of rows is full and sorted.
 *
 * @param batches set if probe rows come in batches
 */
private[thetajoin] final class JoinCode(
    ctx: CodegenContext,
    task: JoinTask,
    source: RelationSource,
    batches: Option[Batches],
    metricTerm: String => String
) {
  import JoinMetrics.{CandidateRows, Matches, OutputRows}

  private val role = task.role
  private val relation = new RelationCode(ctx, task, source, inBatches = batches.isDefined)
  private val candidates = relation.candidates
  private val probeRow = new ProbeCode(ctx, task, relation)
  private val matching = new MatchCode(ctx, task)
  private val counters = new CounterCode(ctx, metricTerm)
  private val firstRows =
    if (task.limit.isEmpty || relation.lookup.isDefined) None
    else Some(new FirstRowsCode(ctx, task, relation, matching, counters))
  private val singleRow =
    new SingleRowCode(ctx, task, relation, probeRow, matching, counters, firstRows)
  private lazy val found = ctx.addMutableState("boolean", "found", forceInline = true)
  private lazy val from = ctx.addMutableState("int", "runFrom", forceInline = true)
  private lazy val until = ctx.addMutableState("int", "runUntil", forceInline = true)

  /** For a probe row that another operator's loop has in `probe`. */
  def fused(probe: Seq[ExprCode], consumer: RowConsumer): String = {
    timeProbe()
    batches match {
      case None => ofRow(probe, probeRow.startOf(probe), consumer)
      case Some(of) =>
        val rows = batch(of, consumer, canBeTail = false)
        val drain = drainMethod(rows, consumer)
        afterLoop = s"$drain();"
        s"${rows.add(probe)}\nif (${rows.isFull}) $drain();"
    }
  }

  /**
   * The same if that loop stops after each row of the join where `stop` holds: the rest of a probe row's matches come out when it is entered
   * again. Its columns are read for the first match. The loop must not go on to another probe row before it stops.
   */
  def fusedWithStops(
      probe: Seq[ExprCode],
      consumer: RowConsumer,
      stop: String,
      goesOn: String
  ): String =
    if (singleRow.isAll || batches.isDefined) fused(probe, consumer)
    else {
      timeProbe()
      val ofStart = probeRow.early(probe, isPlaced = false, manyRows = false)
      val search = nextRow(probe)
      val start = chosen(probe, probeRow.startOf(probe).candidates)
      val all = AttributeSet(task.probeOutput)
      val ofMatch = ExpressionCode.evaluate(probe, task.probeOutput, all)
      val kept = new KeptColumns(ctx, task.probeOutput, probe, all)
      val active = ctx.addMutableState("boolean", "rowActive", forceInline = true)
      val name = ctx.freshName("emitRows")
      val emitRows = ctx.addNewFunction(
        name,
        s"""
           |private void $name() throws java.io.IOException {
           |  ${kept.declareLocals}
           |  $active = true;
           |  ${pairs(kept.locals, probeIsTail = None, consumer, Some(stop), search)}
           |  $active = false;
           |}""".stripMargin
      )
      beforeLoop = s"if ($goesOn$active) {\n$emitRows();\nif ($stop) return;\n}"
      s"""
         |$ofStart
         |$found = false;
         |$start
         |${search.prepare}
         |if (${firstRow(search)}()) {
         |  $ofMatch
         |  ${kept.set}
         |  $emitRows();
         |}""".stripMargin
    }

  private var beforeLoop, afterLoop = ""

  /** What stands ahead of the loop that the result of [[fused]] or [[fusedWithStops]] went into. */
  def beforeFused: String = beforeLoop

  /** What follows when that loop has ended. */
  def afterFused: String = afterLoop

  private def batch(of: Batches, consumer: RowConsumer, canBeTail: Boolean): BatchCode = {
    val ofPairs = consumer.standalone.map { read =>
      AttributeSet.fromAttributeSets(read +: task.ofCandidates.map(_.references))
    }
    val needed = ofPairs.getOrElse(AttributeSet(task.probeOutput))
    new BatchCode(ctx, task, relation, probeRow, of, needed, canBeTail)
  }

  private def drainMethod(rows: BatchCode, consumer: RowConsumer): String = {
    val name = ctx.freshName("drainBatch")
    ctx.addNewFunction(
      name,
      s"""
         |private void $name() throws java.io.IOException {
         |  ${rows.sort}
         |  while (${rows.hasNext}) {
         |    ${rows.moveOn}
         |    ${ofRow(rows.columns, rows.start, consumer)}
         |  }
         |}""".stripMargin
    )
  }

  private def early(probe: Seq[ExprCode]): String =
    probeRow.early(
      probe,
      isPlaced = batches.isDefined,
      manyRows = role.pairs && !singleRow.isAll
    )

  /** All rows of a probe row. */
  private def ofRow(probe: Seq[ExprCode], row: RowStart, consumer: RowConsumer): String = {
    val columns = early(probe)
    if (singleRow.isAll) columns + singleRow(probe, row, consumer)
    else {
      val start = s"$columns\n$found = false;\n${chosen(probe, row.candidates)}\n"
      val search = nextRow(probe)
      s"$start${search.prepare}\n" +
        pairs(probe, probeIsTail = None, consumer, stop = None, search)
    }
  }

  /** Narrows the candidates that `start` sets to those that the probe row is joined with, if that is not for the residual to tell. */
  private def chosen(probe: Seq[ExprCode], start: String): String =
    firstRows.fold(start) { first =>
      s"$start\n${first.choose(probe)}\n$candidates.choose(${first.rows});"
    }

  /** The search for the next of these rows. */
  private def nextRow(probe: Seq[ExprCode]): MatchSearch =
    if (firstRows.isDefined) NoSearch
    else matching.search(probe, relation.candidateColumns(), held = None)

  /**
   * A loop over the rows of `input`, an iterator of probe rows that [[EndsWithTail]] if build rows come out by themselves. It is left
   * after a row if `stop` holds, and goes on from there when entered again.
   */
  def ownLoop(
      input: String,
      consumer: RowConsumer,
      stop: Option[String],
      goesOn: String
  ): String = {
    timeProbe()
    val canBeTail = role.needsMatchedBuildRows
    val (rows, hasNext) = batches match {
      case None =>
        val rows = new InputRows(ctx, probeRow, input, canBeTail)
        (rows, rows.hasNext)
      case Some(of) =>
        val rows = batch(of, consumer, canBeTail)
        (rows, s"${rows.fillFrom(input)}()")
    }
    val probe = rows.columns
    val leave = stop.map(s => s"if ($s) return;").getOrElse("")
    if (singleRow.isAll)
      s"""
         |while ($goesOn$hasNext) {
         |  ${rows.moveOn}
         |  ${early(probe)}
         |  ${singleRow(probe, rows.start, consumer)}
         |  $leave
         |}""".stripMargin
    else {
      val active = ctx.addMutableState("boolean", "rowActive", forceInline = true)
      val search = nextRow(probe)
      s"""
         |while ($goesOn($active || $hasNext)) {
         |  if (!$active) { ${rows.moveOn} }
         |  ${early(probe)}
         |  if (!$active) {
         |    ${startUnlessTail(probe, rows, input)}
         |    $active = true;
         |  }
         |  ${search.prepare}
         |  ${pairs(probe, rows.isTail, consumer, stop, search)}
         |  $active = false;
         |}""".stripMargin
    }
  }

  private def timeProbe(): Unit =
    ctx.addPartitionInitializationStatement(
      s"${JoinMetrics.getClass.getName}.MODULE$$.timeProbe(${metricTerm(JoinMetrics.ProbeTime)});"
    )

  private def startUnlessTail(probe: Seq[ExprCode], rows: ProbeRows, input: String): String = {
    val first = s"$found = false;\n${chosen(probe, rows.start.candidates)}"
    rows.isTail match {
      case None => first
      case Some(isTail) =>
        s"""
           |if ($isTail) {
           |  $found = true;
           |  $candidates.buildRows(((${classOf[EndsWithTail].getName}) $input).tail());
           |} else {
           |  $first
           |}""".stripMargin
    }
  }

  /** All runs of the probe row that `start` was called for, after the search for their rows was prepared. */
  private def pairs(
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
       |while (${nextRun(probeIsTail)}()) {
       |  final int $end = $until;
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
    val padded = if (role.padsProbe) Some(ctx.freshName("padded")) else None
    val next = (padded ++ probeIsTail).reduceOption(_ + " || " + _).fold(search)(search.unless)
    val leave = stop.map { s =>
      s"""
         |if ($s) {
         |  $from = $p + 1;
         |  ${countRun(emitted, probeIsTail)}
         |  return;
         |}""".stripMargin
    }.getOrElse("")
    val loop =
      s"""
         |${padded.map(flag => s"final boolean $flag = $from < 0;").mkString}
         |for (int $p = ${next(from, end)}; $p < $end; $p = ${next(s"$p + 1", end)}) {
         |  $emitted += 1L;
         |  ${consumer.emit(output(probe, columns.at(p, padded)))}
         |  $leave
         |}""".stripMargin
    s"${columns.declareLocals}\n$loop"
  }

  /**
   * Text ahead of all runs, and the loop over a run in methods, which the JIT compiles as a whole, where it compiles a loop in
   * place from its middle on and with an uncertain result. A run of pairs, and one that is no pair (the padded row, or build rows by
   * themselves) have methods of their own: columns are null in the second only.
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
      val emit = consumer.emit(output(probe, columns.at(p, padded)))
      def loopTo(end: String): String = {
        val (first, next) = (search(p, end), search(s"$p + 1", end))
        val count = if (search == NoSearch) "" else "emitted += 1L;"
        s"for ($p = $first; $p < $end; $p = $next) {\n$count\n$emit\n}"
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
           |  ${if (isOnlyPadded) emit else MatchCode.inBlocks(p, "until")(loopTo)}
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
    val remember = if (role.padsProbe) s"$found |= $emitted > 0L;" else ""
    s"$count\n$remember"
  }

  /** A method that moves to the first row of a probe row, and says whether there is one. */
  private def firstRow(search: MatchSearch): String = {
    val next = nextRun(probeIsTail = None)
    if (search == NoSearch) next
    else {
      val name = ctx.freshName("firstRow")
      val isPadded = if (role.padsProbe) s"if ($from < 0) return true;" else ""
      ctx.addNewFunction(
        name,
        s"""
           |private boolean $name() {
           |  while ($next()) {
           |    $isPadded
           |    $from = ${search(from, until)};
           |    if ($from < $until) return true;
           |  }
           |  return false;
           |}""".stripMargin
      )
    }
  }

  /** A method that moves to the next run, the rest of one that was left, or the run [-1, 0) of the padded row. */
  private def nextRun(probeIsTail: Option[String]): String = {
    val name = ctx.freshName("nextRun")
    val pad =
      if (!role.padsProbe) ""
      else
        s"""
           |if (!$found) {
           |  $found = true;
           |  $from = -1;
           |  $until = 0;
           |  return true;
           |}""".stripMargin
    val count =
      if (firstRows.isDefined) "" else counters.add(s"$until - $from", Seq(CandidateRows))
    ctx.addNewFunction(
      name,
      s"""
         |private boolean $name() {
         |  if ($from < $until) return true;
         |  if ($candidates.next()) {
         |    $from = $candidates.from();
         |    $until = $candidates.until();
         |    ${probeIsTail.map(t => s"if (!($t)) ").mkString}$count
         |    return true;
         |  }
         |  $pad
         |  return false;
         |}""".stripMargin
    )
  }
}
