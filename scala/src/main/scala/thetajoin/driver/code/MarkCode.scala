package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}

import thetajoin.driver.JoinTask
import thetajoin.driver.source.RelationSource
import thetajoin.driver.unmatched.UnmatchedRows

/** Marks the build rows that match a probe row, as Java text: it looks only at build rows that have no match yet. */
private[thetajoin] final class MarkCode(
    ctx: CodegenContext,
    task: JoinTask,
    source: RelationSource
) {
  private val relation = new RelationCode(ctx, task, source)
  private val candidates = relation.candidates
  private val probeRow = new ProbeCode(ctx, task, relation)
  private val matching = new MatchCode(ctx, task, relation.candidates)

  /** The method `void mark(InternalRow row, UnmatchedRows unmatched)` of a [[MatchMarker]]. */
  def method(row: String, unmatched: String): String = {
    ctx.INPUT_ROW = null
    s"""
       |public void mark(InternalRow $row, ${classOf[UnmatchedRows].getName} $unmatched) {
       |  ${fused(probeRow.columns(row, canBeNull = false), unmatched)}
       |}""".stripMargin
  }

  /** For a probe row that another operator's loop has in `probe`. */
  def fused(probe: Seq[ExprCode], unmatched: String): String = {
    val early = probeRow.early(probe, isPlaced = false, manyRows = false)
    val start = probeRow.start(probe)
    val columns = relation.newColumns()
    val place = ctx.freshName("place")
    val position = columns.positionOf(place)
    val end = ctx.freshName("end")
    val inRun =
      if (task.residual.isEmpty) s"$candidates.mark($unmatched);"
      else {
        val check =
          s"${matching.check(task.residual, probe, columns.at(place), orElse = "continue;")}\n$unmatched.mark($position);"
        // In a run of positions all marked rows are skipped in one step, in a list one by one.
        def next(from: String) = if (columns.isListed) from else s"$unmatched.next($from, $end)"
        val skip = if (columns.isListed) s"if ($unmatched.isMatched($position)) continue;" else ""
        val body = s"$skip\n${if (task.holdsErrors) held(check, unmatched, position) else check}"
        s"""
           |final int $end = $candidates.until();
           |${columns.declareLocals}
           |for (int $place = ${next(s"$candidates.from()")}; $place < $end; $place = ${next(
            s"$place + 1"
          )}) {
           |  $body
           |}""".stripMargin
      }
    s"""
       |$early
       |$start
       |while ($candidates.next()) {
       |  $inRun
       |}""".stripMargin
  }

  private def held(check: String, unmatched: String, p: String): String =
    s"""
       |try {
       |  $check
       |} catch (Exception failed) {
       |  $unmatched.hold($p, failed);
       |}""".stripMargin
}
