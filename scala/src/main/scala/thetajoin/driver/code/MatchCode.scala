package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{AttributeSeq, AttributeSet, Expression}

import thetajoin.codegen.{ExpressionCode, KeptColumns}
import thetajoin.driver.JoinTask

/** The residual as Java text: on one candidate, as a search for the next match, and as a look at all of them. */
private[driver] final class MatchCode(ctx: CodegenContext, task: JoinTask, candidates: String) {
  private val schema: AttributeSeq = task.probeOutput ++ task.stored

  /**
   * Evaluates the build columns that these conjuncts read, and runs `orElse` unless each conjunct is true. A conjunct
   * that is null ends the check as well as a false one: the pair can't match, whatever comes after it.
   */
  def check(
      conjuncts: Seq[Expression],
      probe: Seq[ExprCode],
      build: Seq[ExprCode],
      orElse: String
  ): String = {
    val load = ExpressionCode.evaluate(build, task.stored, readBy(conjuncts))
    val checks = conjuncts.map { conjunct =>
      val c = ExpressionCode(ctx, conjunct, schema, probe ++ build)
      s"${c.code}\nif (${ExpressionCode.isFalse(c)}) $orElse"
    }
    (load +: checks).mkString("\n")
  }

  /**
   * The search for the next match, in a method of its own: the JIT makes the same tight code of it however much is
   * done with a match.
   *
   * @param probe evaluated columns of the probe row
   * @param held the field for the first error of a probe row, if an error is to wait until the row has no match
   */
  def search(probe: Seq[ExprCode], columns: => BuildColumns, held: Option[String]): MatchSearch = {
    def of(conjuncts: Seq[Expression]) =
      if (conjuncts.isEmpty) NoSearch
      else
        method("nextMatch", conjuncts, probe, columns, AttributeSet.empty, held)((_, place) =>
          s"return $place;"
        )
    val all = of(task.residual)
    if (task.ofFound == task.residual) all
    else new EitherSearch(s"$candidates.areFound()", of(task.ofFound), all)
  }

  /**
   * A look at all candidates. Each match is handed to `visit`: as the columns of the pair, evaluated if they are in
   * `ofVisit`, and its place. `visit` may return the place after this one and so be the last. `skip` leaves a
   * candidate out by its place, ahead of the residual.
   */
  def visitor(
      probe: Seq[ExprCode],
      columns: BuildColumns,
      ofVisit: AttributeSet,
      skip: String => String
  )(visit: (Seq[ExprCode], String) => String): MethodSearch =
    method("visitMatches", task.residual, probe, columns, ofVisit, None, skip) { (pair, place) =>
      val load = ExpressionCode.evaluate(pair, task.probeOutput ++ task.stored, ofVisit)
      s"$load\n${visit(pair, place)}"
    }

  private def method(
      kind: String,
      conjuncts: Seq[Expression],
      probe: Seq[ExprCode],
      columns: BuildColumns,
      ofMatches: AttributeSet,
      held: Option[String],
      skip: String => String = _ => ""
  )(ofMatch: (Seq[ExprCode], String) => String): MethodSearch = {
    val name = ctx.freshName(kind)
    val p = ctx.freshName("position")
    val until = ctx.freshName("until")
    val kept = new KeptColumns(ctx, task.probeOutput, probe, readBy(conjuncts) ++ ofMatches)
    val (ofProbe, ofBuild) = (kept.locals, columns.at(p))
    val test =
      s"${skip(p)}\n${check(conjuncts, ofProbe, ofBuild, orElse = "continue;")}\n${ofMatch(ofProbe ++ ofBuild, p)}"
    val guarded = held.fold(test) { error =>
      s"""
         |try {
         |  $test
         |} catch (Exception failed) {
         |  if ($error == null) $error = failed;
         |}""".stripMargin
    }
    val method = ctx.addNewFunction(
      name,
      s"""
         |private int $name(int $p, int $until) {
         |  ${columns.declareLocals}
         |  ${kept.declareLocals}
         |  ${MatchCode.inBlocks(p, until)(end => s"for (; $p < $end; $p++) {\n$guarded\n}")}
         |  return $until;
         |}""".stripMargin
    )
    new MethodSearch(method, kept.set)
  }

  private def readBy(conjuncts: Seq[Expression]): AttributeSet =
    AttributeSet.fromAttributeSets(conjuncts.map(_.references))
}

private[driver] object MatchCode {

  /**
   * Moves `position` up to `until` by a loop over each block of candidates. Blocks are shorter than the stretches
   * into which the JIT would otherwise cut the loop (LoopStripMiningIter, 1000), which costs up to twice the time
   * where matches are rare.
   */
  def inBlocks(position: String, until: String)(loopTo: String => String): String =
    s"""
       |while ($position < $until) {
       |  final int blockEnd = $until - $position > $Block ? $position + $Block : $until;
       |  ${loopTo("blockEnd")}
       |}""".stripMargin

  private final val Block = 512
}

/** How generated code moves to the next match. */
private[driver] sealed trait MatchSearch {

  /** Run for each probe row ahead of the first search. */
  def prepare: String

  /** An expression: the first match in `[from, until)`; `until` if there is none. */
  def apply(from: String, until: String): String

  /** The same, but no candidate is checked where a condition holds. */
  def unless(condition: String): MatchSearch = this match {
    case NoSearch => NoSearch
    case search => new EitherSearch(condition, NoSearch, search)
  }
}

/** Every candidate matches. */
private[driver] case object NoSearch extends MatchSearch {
  override def prepare: String = ""
  override def apply(from: String, until: String): String = from
}

private[driver] final class MethodSearch(method: String, override val prepare: String)
    extends MatchSearch {
  override def apply(from: String, until: String): String = s"$method($from, $until)"
}

/** One where a condition holds, and another where it does not. */
private[driver] final class EitherSearch(condition: String, first: MatchSearch, second: MatchSearch)
    extends MatchSearch {
  override def prepare: String = s"${first.prepare}\n${second.prepare}"
  override def apply(from: String, until: String): String =
    s"(($condition) ? ${first(from, until)} : ${second(from, until)})"
}
