package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{AttributeSet, BitwiseNot, SortOrder}

import thetajoin.codegen.ExpressionCode
import thetajoin.condition.{OrderedLong, Safety}
import thetajoin.driver.probe.FirstRows
import thetajoin.driver.{JoinMetrics, JoinTask}

/** Chooses the matches that a probe row is joined with, as Java text, where not all of them are: see [[FirstRows]]. */
private[driver] final class FirstRowsCode(
    ctx: CodegenContext,
    task: JoinTask,
    relation: RelationCode,
    matching: MatchCode,
    counters: CounterCode
) {
  private val candidates = relation.candidates

  /** A [[FirstRows]]. */
  val rows: String = {
    val rowsClass = classOf[FirstRows].getName
    ctx.addMutableState(
      rowsClass,
      "firstRows",
      v => s"$v = new $rowsClass(${task.limit.get});",
      forceInline = true
    )
  }

  /** Of the candidates that are set for a probe row, whose columns are evaluated. */
  def choose(probe: Seq[ExprCode]): String = {
    val columns = relation.candidateColumns()
    val ofPairs = task.rank.filterNot(_ => task.ranksRows)
    val read = AttributeSet.fromAttributeSets(ofPairs.map(_.references))
    val visitor = matching.visitor(probe, columns, read, skipsRanked(columns)) { (pair, place) =>
      val position = columns.positionOf(place)
      ofPairs match {
        case _ if task.ranksRows => s"$rows.offer($position, ${relation.rowRanks}[$position]);"
        case Some(rank) => offer(rank, pair, position)
        case None => s"$rows.add($position);\nif ($rows.isFull()) return $place + 1;"
      }
    }
    val (goesOn, narrow, sort) = task.rank match {
      case Some(_) if task.ranksRows => ("", "", s"$rows.sort();")
      case Some(_) =>
        val narrow = s"if ($rows.isFull()) $candidates.narrow($rows.highestRank());"
        ("", narrow, s"$rows.sort();")
      case None => (s"!$rows.isFull() && ", "", "")
    }
    val (seen, next) = (ctx.freshName("seen"), ctx.freshName("next"))
    s"""
       |$rows.clear();
       |${visitor.prepare}
       |long $seen = 0L;
       |while ($goesOn$candidates.next()) {
       |  final int $next = ${visitor(s"$candidates.from()", s"$candidates.until()")};
       |  $seen += $next - $candidates.from();
       |  $narrow
       |}
       |$sort
       |${counters.add(seen, Seq(JoinMetrics.CandidateRows))}""".stripMargin
  }

  /** The residual is not tested on a row that comes after all of the chosen ones, unless it may fail. */
  private def skipsRanked(columns: BuildColumns)(place: String): String =
    if (!task.ranksRows) ""
    else {
      val rank = s"${relation.rowRanks}[${columns.positionOf(place)}]"
      val isAfter = if (task.residual.forall(Safety.cannotFail)) s" || !$rows.takes($rank)" else ""
      s"if ($rank < 0$isAfter) continue;"
    }

  private def offer(rank: SortOrder, pair: Seq[ExprCode], position: String): String = {
    val ascending = OrderedLong(rank.child)
    val value = if (rank.isAscending) ascending else BitwiseNot(ascending)
    val code = ExpressionCode(ctx, value, task.probeOutput ++ task.stored, pair)
    s"${code.code}\nif (!${code.isNull}) $rows.offer($position, ${code.value});"
  }
}
