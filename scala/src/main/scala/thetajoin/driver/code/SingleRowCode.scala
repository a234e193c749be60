package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.unsafe.Platform

import thetajoin.driver.{Existence, JoinMetrics, JoinTask}

/** A probe row that gives one row at most, as Java text: existence joins, and joins with one match of a row. */
private[driver] final class SingleRowCode(
    ctx: CodegenContext,
    task: JoinTask,
    relation: RelationCode,
    probeRow: ProbeCode,
    matching: MatchCode,
    counters: CounterCode,
    firstRows: Option[FirstRowsCode]
) {
  import JoinMetrics.{CandidateRows, Matches, OutputRows}

  private val role = task.role
  private val candidates = relation.candidates

  /** The row of a probe row; `start` sets its candidates. */
  def apply(probe: Seq[ExprCode], start: => String, consumer: RowConsumer): String =
    (role.probeExistence, relation.lookup, firstRows) match {
      case (Some(kind), _, _) => existence(probe, start, kind, consumer)
      case (None, Some(lookup), _) => pair(probe, onlyCandidate(probe, lookup, _), consumer)
      case (None, None, None) => pair(probe, firstMatch(probe, start, _, held = None), consumer)
      case (None, None, Some(chosen)) => pair(probe, chosenMatch(probe, start, chosen, _), consumer)
    }

  /**
   * The probe row with its match, or else with nulls if such are part of the result.
   *
   * @param find declares a variable and sets it to the position of the match; -1 without one
   */
  private def pair(probe: Seq[ExprCode], find: String => String, consumer: RowConsumer): String = {
    val p = ctx.freshName("position")
    val columns = relation.positionColumns()
    val found = find(p)
    val row = joined(probe, columns, p, consumer)
    s"$found\n${columns.declareLocals}\n$row"
  }

  private def onlyCandidate(probe: Seq[ExprCode], lookup: Lookup, p: String): String =
    s"""
       |int $p = -1;
       |${probeRow.lookUp(probe, lookup, p)}
       |if ($p >= 0) ${count(Seq(CandidateRows))}""".stripMargin

  /**
   * The first match in the order of the candidates.
   *
   * @param held the field for the first error of a pair, if it is to wait until the probe row has no match
   */
  private def firstMatch(
      probe: Seq[ExprCode],
      start: String,
      p: String,
      held: Option[String]
  ): String = {
    val search = matching.search(probe, relation.candidateColumns(), held)
    val (place, seen) = (ctx.freshName("place"), ctx.freshName("seen"))
    s"""
       |$start
       |${search.prepare}
       |int $p = -1;
       |long $seen = 0L;
       |while ($p < 0 && $candidates.next()) {
       |  final int $place = ${search(s"$candidates.from()", s"$candidates.until()")};
       |  if ($place < $candidates.until()) $p = $candidates.position($place);
       |  $seen += $place - $candidates.from() + ($p < 0 ? 0 : 1);
       |}
       |${counters.add(seen, Seq(CandidateRows))}""".stripMargin
  }

  private def chosenMatch(
      probe: Seq[ExprCode],
      start: String,
      chosen: FirstRowsCode,
      p: String
  ): String =
    s"""
       |$start
       |${chosen.choose(probe)}
       |final int $p = ${chosen.rows}.size() > 0 ? ${chosen.rows}.positions()[0] : -1;""".stripMargin

  /** The probe row with the build row at a place, which is negative if there is none. */
  private def joined(
      probe: Seq[ExprCode],
      columns: BuildColumns,
      p: String,
      consumer: RowConsumer
  ): String = {
    val padded = if (role.padsProbe) Some(ctx.freshName("padded")) else None
    val row = task.outputOrder(probe, columns.at(p, padded))
    val emit = consumer.emitSingle(row)
    padded match {
      case None => s"if ($p >= 0) {\n${count(Seq(Matches, OutputRows))}\n$emit\n}"
      case Some(flag) =>
        s"""
           |final boolean $flag = $p < 0;
           |if (!$flag) ${count(Seq(Matches))}
           |${count(Seq(OutputRows))}
           |$emit""".stripMargin
    }
  }

  /** Whether there is a match; then the row, or not, or the row with a flag. */
  private def existence(
      probe: Seq[ExprCode],
      start: => String,
      kind: Existence,
      consumer: RowConsumer
  ): String = {
    val matched = ctx.freshName("hasMatch")
    // Without a residual the first candidate is a match, and no other is looked at.
    val ofMatch = Matches +: (if (task.residual.isEmpty) Seq(CandidateRows) else Nil)
    val text = kind match {
      case Existence.Matched =>
        s"if ($matched) {\n${count(ofMatch :+ OutputRows)}\n${consumer.emitSingle(probe)}\n}"
      case Existence.Unmatched =>
        s"if ($matched) {\n${count(ofMatch)}\n} else {\n${count(Seq(OutputRows))}\n${consumer.emitSingle(probe)}\n}"
      case Existence.Marked =>
        val flag =
          ExprCode(EmptyBlock, FalseLiteral, JavaCode.variable(matched, BooleanType))
        s"if ($matched) ${count(ofMatch)}\n${count(Seq(OutputRows))}\n${consumer.emitSingle(probe :+ flag)}"
    }
    s"boolean $matched = false;\n${search(probe, start, matched)}\n$text"
  }

  private def count(metrics: Seq[String]): String = counters.add("1L", metrics)

  private def search(probe: Seq[ExprCode], start: => String, matched: String): String =
    if (task.residual.isEmpty)
      relation.lookup match {
        case Some(lookup) =>
          val p = ctx.freshName("position")
          s"int $p = -1;\n${probeRow.lookUp(probe, lookup, p)}\n$matched = $p >= 0;"
        case None => s"$start\n$matched = $candidates.next();"
      }
    else {
      val p = ctx.freshName("position")
      val held =
        if (task.holdsErrors) Some(ctx.addMutableState("Exception", "heldError")) else None
      val forget = held.map(error => s"$error = null;").getOrElse("")
      val throwHeld = held.map { error =>
        s"if (!$matched && $error != null) ${classOf[Platform].getName}.throwException($error);"
      }.getOrElse("")
      s"""
         |$forget
         |${firstMatch(probe, start, p, held)}
         |$matched = $p >= 0;
         |$throwHeld""".stripMargin
    }
}
