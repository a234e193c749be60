package thetajoin.driver

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

import thetajoin.rowstore.ThetaRelation

/** The body of a [[MatchMarker]] as Java text: it looks only at build rows that have no match yet. */
private[driver] final class MarkCode(
    ctx: CodegenContext,
    task: JoinTask,
    broadcast: Broadcast[ThetaRelation]
) {
  private val relation = new RelationCode(ctx, task, broadcast)
  private val candidates = relation.candidates
  private val probeRow = new ProbeCode(ctx, task, candidates)
  private val matching = new MatchCode(ctx, task)

  /** The method `void mark(InternalRow row, UnmatchedRows unmatched)`. */
  def method(row: String, unmatched: String): String = {
    ctx.INPUT_ROW = null
    val probe = probeRow.columns(row, canBeNull = false)
    val early = probeRow.early(probe)
    val start = probeRow.start(probe)
    val columns = relation.newColumns()
    val p = ctx.freshName("position")
    val end = ctx.freshName("end")
    val inRun =
      if (task.residual.isEmpty) s"$unmatched.markRun($candidates.from(), $candidates.until());"
      else {
        val check =
          s"${matching.check(probe, columns.at(p), orElse = "continue;")}\n$unmatched.mark($p);"
        s"""
           |final int $end = $candidates.until();
           |for (int $p = $unmatched.next($candidates.from()); $p < $end; $p = $unmatched.next($p + 1)) {
           |  ${if (task.holdsErrors) held(check, unmatched, p) else check}
           |}""".stripMargin
      }
    s"""
       |public void mark(InternalRow $row, ${classOf[UnmatchedRows].getName} $unmatched) {
       |  $early
       |  $start
       |  ${columns.declareLocals}
       |  while ($candidates.next()) {
       |    $inRun
       |  }
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
