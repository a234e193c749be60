package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.expressions.codegen._

import thetajoin.codegen.{ExpressionCode, KeptColumns}
import thetajoin.contract.Batches
import thetajoin.driver.source.RelationSource
import thetajoin.driver.unmatched.EndsWithTail
import thetajoin.driver.{JoinMetrics, JoinTask}

/**
 * The join as Java text. The pieces, in the order in which they run for a probe row:
 *
 * {{{
 *   start      the probe row's own condition and keys; sets the candidates
 *   pairs      for each run of candidates, for each position: the residual, then what consumes a row
 *   singleRow  in place of pairs if one row comes out at most: up to the first match
 * }}}
 *
 * They are put into the loop of the operator that produces probe rows ([[fused]]), which may be left after any row of
 * the join and resumed ([[fusedWithStops]]), or into a loop of our own ([[ownLoop]]). They run for a row as it comes,
 * or once a batch of rows is full and sorted.
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
  private val role = task.role
  private val relation = new RelationCode(ctx, task, source, inBatches = batches.isDefined)
  private val probeRow = new ProbeCode(ctx, task, relation)
  private val matching = new MatchCode(ctx, task, relation.candidates)
  private val counters = new CounterCode(ctx, metricTerm)
  private val firstRows =
    if (task.choosesRows) Some(new FirstRowsCode(ctx, task, relation, matching, counters)) else None
  private val singleRow =
    new SingleRowCode(ctx, task, relation, probeRow, matching, counters, firstRows)
  private val pairs = new PairsCode(ctx, task, relation, matching, counters, firstRows)

  /** For a probe row that another operator's loop has in `probe`. */
  def fused(probe: Seq[ExprCode], consumer: RowConsumer): String = {
    timeProbe()
    batches match {
      case None => ofRow(probe, probeRow.start(probe), consumer)
      case Some(of) =>
        val rows = batch(of, consumer, canBeTail = false)
        val drain = drainMethod(rows, consumer)
        afterLoop = s"$drain();"
        s"${rows.add(probe)}\nif (${rows.isFull}) $drain();"
    }
  }

  /**
   * The same if that loop stops after each row of the join where `stop` holds: the rest of a probe row's matches come
   * out when it is entered again. Its columns are read for the first match. The loop must not go on to another probe
   * row before it stops.
   */
  def fusedWithStops(
      probe: Seq[ExprCode],
      consumer: RowConsumer,
      stop: String,
      goesOn: String
  ): String =
    if (task.oneRowAtMost || batches.isDefined) fused(probe, consumer)
    else {
      timeProbe()
      val ofStart = probeRow.early(probe, isPlaced = false, manyRows = false)
      val search = pairs.nextRow(probe)
      val start = pairs.begin(probe, probeRow.start(probe))
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
         |$start
         |${search.prepare}
         |if (${pairs.firstRow(search)}()) {
         |  $ofMatch
         |  ${kept.set}
         |  $emitRows();
         |}""".stripMargin
    }

  private var beforeLoop, afterLoop = ""

  /** The code ahead of the loop that the result of [[fused]] or [[fusedWithStops]] went into. */
  def beforeFused: String = beforeLoop

  /** The code that follows when that loop has ended. */
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
      manyRows = role.pairs && !task.oneRowAtMost
    )

  /** All rows of a probe row. */
  private def ofRow(probe: Seq[ExprCode], start: => String, consumer: RowConsumer): String = {
    val columns = early(probe)
    if (task.oneRowAtMost) columns + singleRow(probe, start, consumer)
    else {
      val search = pairs.nextRow(probe)
      val ofPairs = pairs(probe, probeIsTail = None, consumer, stop = None, search)
      s"$columns\n${pairs.begin(probe, start)}\n${search.prepare}\n$ofPairs"
    }
  }

  /**
   * A loop over the rows of `input`, an iterator of probe rows that [[EndsWithTail]] if build rows come out by
   * themselves. It is left after a row if `stop` holds, and goes on from there when entered again.
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
    if (task.oneRowAtMost)
      s"""
         |while ($goesOn$hasNext) {
         |  ${rows.moveOn}
         |  ${early(probe)}
         |  ${singleRow(probe, rows.start, consumer)}
         |  $leave
         |}""".stripMargin
    else {
      val active = ctx.addMutableState("boolean", "rowActive", forceInline = true)
      val search = pairs.nextRow(probe)
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
    val first = pairs.begin(probe, rows.start)
    rows.isTail match {
      case None => first
      case Some(isTail) =>
        s"""
           |if ($isTail) {
           |  ${pairs.beginTail}
           |  ${relation.candidates}.buildRows(((${classOf[EndsWithTail].getName}) $input).tail());
           |} else {
           |  $first
           |}""".stripMargin
    }
  }
}
