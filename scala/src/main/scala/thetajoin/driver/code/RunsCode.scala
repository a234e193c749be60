package thetajoin.driver.code

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext

import thetajoin.driver.{JoinMetrics, JoinTask}

/** The runs of a probe row's candidates, one after another, as Java text. */
private[driver] final class RunsCode(
    ctx: CodegenContext,
    task: JoinTask,
    relation: RelationCode,
    counters: CounterCode,
    countsCandidates: Boolean
) {
  import JoinMetrics.CandidateRows

  private val role = task.role
  private val candidates = relation.candidates

  /** The fields for whether a row has come out for the probe row, and for the current run. */
  lazy val found: String = ctx.addMutableState("boolean", "found", forceInline = true)
  lazy val from: String = ctx.addMutableState("int", "runFrom", forceInline = true)
  lazy val until: String = ctx.addMutableState("int", "runUntil", forceInline = true)

  /** A method that moves to the first row of a probe row, and says whether there is one. */
  def firstRow(search: MatchSearch): String = {
    val next = this.next(probeIsTail = None)
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
  def next(probeIsTail: Option[String]): String =
    known.getOrElseUpdate(probeIsTail, newNext(probeIsTail))

  private val known = mutable.Map.empty[Option[String], String]

  private def newNext(probeIsTail: Option[String]): String = {
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
      if (!countsCandidates) "" else counters.add(s"$until - $from", Seq(CandidateRows))
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
