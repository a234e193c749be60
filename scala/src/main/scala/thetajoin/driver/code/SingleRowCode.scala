package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.unsafe.Platform

import thetajoin.driver.{Existence, JoinMetrics, JoinTask}

/**
 * A probe row that gives one row at most, as Java text: existence joins, and pairs where a probe row has one
 * candidate at most.
 */
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

  /** Whether no probe row gives more. */
  def isAll: Boolean = task.oneRowAtMost || relation.lookup.isDefined

  /** The row of a probe row. */
  def apply(probe: Seq[ExprCode], row: RowStart, consumer: RowConsumer): String =
    (role.probeExistence, relation.lookup) match {
      case (Some(kind), _) => existence(probe, row.candidates, kind, consumer)
      case (None, Some(index)) => pair(probe, row.lookUp(index, _), consumer)
      case (None, None) => firstPair(row.candidates, probe, firstRows.get, consumer)
    }

  /** The probe row with its only candidate, if that matches, or else with nulls if such are part of the result. */
  private def pair(
      probe: Seq[ExprCode],
      lookUp: String => String,
      consumer: RowConsumer
  ): String = {
    val p = ctx.freshName("position")
    val columns = relation.newColumns()
    val check =
      if (task.residual.isEmpty) ""
      else {
        val text = matching.check(probe, columns.at(p), orElse = s"{ $p = -1; break; }")
        s"do {\n$text\n} while (false);"
      }
    val rows = joined(probe, columns, p, consumer)
    s"""
       |int $p = -1;
       |${lookUp(p)}
       |${columns.declareLocals}
       |if ($p >= 0) {
       |  ${count(Seq(CandidateRows))}
       |  $check
       |}
       |$rows""".stripMargin
  }

  /** The probe row with the first of its matches. */
  private def firstPair(
      start: String,
      probe: Seq[ExprCode],
      first: FirstRowsCode,
      consumer: RowConsumer
  ): String = {
    val p = ctx.freshName("position")
    val choose = first.choose(probe)
    val columns = relation.positionColumns()
    val rows = joined(probe, columns, p, consumer)
    s"""
       |$start
       |$choose
       |final int $p = ${first.rows}.size() > 0 ? ${first.rows}.positions()[0] : -1;
       |${columns.declareLocals}
       |$rows""".stripMargin
  }

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
      start: String,
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

  private def search(probe: Seq[ExprCode], start: String, matched: String): String =
    if (task.residual.isEmpty)
      relation.membership match {
        case Some(index) => probeRow.startMembership(probe, index, matched)
        case None => s"$start\n$matched = $candidates.next();"
      }
    else {
      val p = ctx.freshName("position")
      val seen = ctx.freshName("seen")
      val held =
        if (task.holdsErrors) Some(ctx.addMutableState("Exception", "heldError")) else None
      val search = matching.search(probe, relation.candidateColumns(), held)
      val throwHeld = held.map { error =>
        s"if (!$matched && $error != null) ${classOf[Platform].getName}.throwException($error);"
      }.getOrElse("")
      s"""
         |$start
         |${held.map(error => s"$error = null;").getOrElse("")}
         |${search.prepare}
         |long $seen = 0L;
         |while (!$matched && $candidates.next()) {
         |  int $p = ${search(s"$candidates.from()", s"$candidates.until()")};
         |  $matched = $p < $candidates.until();
         |  $seen += $p - $candidates.from() + ($matched ? 1 : 0);
         |}
         |$throwHeld
         |${counters.add(seen, Seq(CandidateRows))}""".stripMargin
    }
}
