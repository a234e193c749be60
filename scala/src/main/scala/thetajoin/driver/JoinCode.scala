package thetajoin.driver

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSeq,
  AttributeSet,
  BindReferences,
  Expression
}
import org.apache.spark.sql.types.{BooleanType, LongType}

import thetajoin.rowstore.ThetaRelation

/**
 * The join as Java text. The pieces, in the order in which they run for a probe row:
 *
 * {{{
 *   start      the probe row's own condition and keys; sets `candidates`
 *   pairs      for each run, for each position: the residual, then what consumes a row
 *   existence  the same up to the first match
 * }}}
 *
 * They are put into the loop of whoever produces probe rows ([[fused]]), or into a loop of our own that can stop
 * after any row ([[ownLoop]]).
 */
private[thetajoin] final class JoinCode(
    ctx: CodegenContext,
    task: JoinTask,
    broadcast: Broadcast[ThetaRelation],
    metricTerm: String => String
) {
  private val role = task.role
  private val relationClass = classOf[ThetaRelation].getName
  private val candidatesClass = classOf[Candidates].getName

  private val relation = {
    val term = ctx.addReferenceObj("joinRelation", broadcast)
    ctx.addMutableState(
      relationClass,
      "relation",
      v => s"$v = ($relationClass) $term.value();",
      forceInline = true
    )
  }
  val candidates: String = ctx.addMutableState(
    candidatesClass,
    "candidates",
    v => s"$v = new $candidatesClass($relation);",
    forceInline = true
  )
  private val columns = new BuildColumns(ctx, broadcast.value.store, task.stored, relation)
  private lazy val found = ctx.addMutableState("boolean", "found", forceInline = true)
  private lazy val from = ctx.addMutableState("int", "runFrom", forceInline = true)
  private lazy val until = ctx.addMutableState("int", "runUntil", forceInline = true)
  private lazy val candidateRows = metricTerm(JoinMetrics.CandidateRows)
  private lazy val matchedRows = metricTerm(JoinMetrics.Matches)
  private lazy val outputRows = metricTerm(JoinMetrics.OutputRows)

  /** For a probe row that another operator's loop has in `probe`. */
  def fused(probe: Seq[ExprCode], emit: Seq[ExprCode] => String): String = {
    timeProbe()
    val early = evaluate(probe, task.probeOutput, earlyColumns)
    role.probeExistence match {
      case Some(kind) => early + start(probe) + existence(probe, kind, emit)
      case None => early + start(probe) + s"$found = false;\n" + pairs(
          probe,
          probeIsTail = None,
          emit,
          stop = None
        )
    }
  }

  /**
   * A loop over the rows of `input`, an iterator of probe rows or a [[BuildTail]]. It is left after a row if `stop`
   * holds, and goes on from there when entered again.
   */
  def ownLoop(
      input: String,
      emit: Seq[ExprCode] => String,
      stop: Option[String],
      goesOn: String
  ): String = {
    timeProbe()
    val row = ctx.addMutableState("InternalRow", "probeRow", forceInline = true)
    val active = ctx.addMutableState("boolean", "rowActive", forceInline = true)
    val canBeTail = role.needsMatchedBuildRows
    val probe = probeColumns(row, canBeTail)
    val early = evaluate(probe, task.probeOutput, earlyColumns)
    val leave = stop.map(s => s"if ($s) return;").getOrElse("")
    role.probeExistence match {
      case Some(kind) =>
        s"""
           |while ($goesOn$input.hasNext()) {
           |  $row = (InternalRow) $input.next();
           |  $early
           |  ${start(probe)}
           |  ${existence(probe, kind, emit)}
           |  $leave
           |}""".stripMargin
      case None =>
        val begin = startUnlessTail(row, probe, input, canBeTail)
        s"""
           |while ($goesOn($active || $input.hasNext())) {
           |  if (!$active) $row = (InternalRow) $input.next();
           |  $early
           |  if (!$active) {
           |    $begin
           |    $active = true;
           |  }
           |  ${pairs(probe, if (canBeTail) Some(s"$row == null") else None, emit, stop)}
           |  $active = false;
           |}""".stripMargin
    }
  }

  private def timeProbe(): Unit =
    ctx.addPartitionInitializationStatement(
      s"${JoinMetrics.getClass.getName}.MODULE$$.timeProbe(${metricTerm(JoinMetrics.ProbeTime)});"
    )

  private def startUnlessTail(
      row: String,
      probe: Seq[ExprCode],
      input: String,
      canBeTail: Boolean
  ): String = {
    val first = s"$found = false;\n${start(probe)}"
    if (!canBeTail) first
    else
      s"""
         |if ($row == null) {
         |  $found = true;
         |  $candidates.buildRows((${classOf[BuildTail].getName}) $input);
         |} else {
         |  $first
         |}""".stripMargin
  }

  /** Columns of the row object `row`, read when needed; null if the row is, in the tail. */
  private def probeColumns(row: String, canBeNull: Boolean): Seq[ExprCode] =
    task.probeOutput.zipWithIndex.map { case (attribute, ordinal) =>
      val javaType = CodeGenerator.javaType(attribute.dataType)
      val value = ctx.freshName("probeValue")
      val isNull = ctx.freshName("probeIsNull")
      val read = CodeGenerator.getValue(row, attribute.dataType, ordinal.toString)
      val tests = Seq(
        if (canBeNull) Some(s"$row == null") else None,
        if (attribute.nullable) Some(s"$row.isNullAt($ordinal)") else None
      ).flatten
      val variable = JavaCode.variable(value, attribute.dataType)
      if (tests.isEmpty) ExprCode(code"$javaType $value = $read;", FalseLiteral, variable)
      else {
        val default = CodeGenerator.defaultValue(attribute.dataType)
        val code = code"""
          boolean $isNull = ${tests.mkString(" || ")};
          $javaType $value = $isNull ? $default : ($read);"""
        ExprCode(code, JavaCode.isNullVariable(isNull), variable)
      }
    }

  /**
   * Probe columns that are evaluated once a row, ahead of its candidates: those that conditions and keys read, and
   * all whose values are primitive. The others are left to whoever consumes a match.
   */
  private val earlyColumns: AttributeSet = {
    val read = (task.probeFilter ++ task.residual ++ task.probeKeys).map(_.references)
    val primitive = task.probeOutput.filter(a => CodeGenerator.isPrimitiveType(a.dataType))
    AttributeSet.fromAttributeSets(read) ++ AttributeSet(if (role.pairs) primitive else Nil)
  }

  /** The code of the needed variables that are not evaluated yet, which are then marked as evaluated. */
  private def evaluate(
      variables: Seq[ExprCode],
      of: Seq[Attribute],
      needed: AttributeSet
  ): String = {
    val pending =
      variables.zip(of).collect { case (v, a) if needed.contains(a) && v.code.nonEmpty => v }
    val text = pending.map(_.code.toString).mkString("\n")
    pending.foreach(_.code = EmptyBlock)
    text
  }

  /** Sets `candidates` for a probe row. */
  def start(probe: Seq[ExprCode]): String = {
    val key = if (task.keysCanFail) {
      s"""
         |try {
         |  ${startKeys(probe)}
         |} catch (Exception keyFailed) {
         |  $candidates.all();
         |}""".stripMargin
    } else startKeys(probe)
    task.probeFilter match {
      case None => key
      case Some(filter) =>
        val passes = generate(filter, probe)
        s"""
           |${passes.code}
           |if (${passes.isNull} || !${passes.value}) {
           |  $candidates.none();
           |} else {
           |  $key
           |}""".stripMargin
    }
  }

  private def startKeys(probe: Seq[ExprCode]): String = task.probeKeys match {
    case Seq(key) if key.dataType == LongType =>
      val k = generate(key, probe)
      s"${k.code}\n" + unlessNull(k.isNull.toString, s"$candidates.probe((long) ${k.value});")
    case keys =>
      val bound = keys.map(BindReferences.bindReference(_, attributes(task.probeOutput)))
      val row = withInput(probe)(GenerateUnsafeProjection.createCode(ctx, bound))
      val anyNull = if (keys.exists(_.nullable)) s"${row.value}.anyNull()" else "false"
      s"${row.code}\n" + unlessNull(anyNull, s"$candidates.probe(${row.value});")
  }

  private def unlessNull(isNull: String, text: String): String =
    if (isNull == "false") text else s"if ($isNull) $candidates.none(); else $text"

  private def attributes(output: Seq[Attribute]): AttributeSeq = output

  private def withInput[A](variables: Seq[ExprCode])(body: => A): A = {
    ctx.currentVars = variables
    ctx.INPUT_ROW = null
    body
  }

  private def generate(e: Expression, probe: Seq[ExprCode]): ExprCode =
    withInput(probe)(BindReferences.bindReference(e, attributes(task.probeOutput)).genCode(ctx))

  /** All runs of the probe row that `start` was called for, with the padded row if there is no match. */
  private def pairs(
      probe: Seq[ExprCode],
      probeIsTail: Option[String],
      emit: Seq[ExprCode] => String,
      stop: Option[String]
  ): String = {
    val p = ctx.freshName("position")
    val end = ctx.freshName("end")
    val emitted = ctx.freshName("emitted")
    val build = columns.at(p, role.padsProbe)
    val unchecked = Seq(if (role.padsProbe) Some(s"$p < 0") else None, probeIsTail).flatten
    val check = residual(probe, build, orElse = "continue;", unless = unchecked)
    val exists = role.buildExistence.collect { case Existence.Marked =>
      ExprCode(EmptyBlock, FalseLiteral, JavaCode.variable(s"$candidates.matched()", BooleanType))
    }
    val output =
      if (role.buildExistence.isDefined) build ++ exists else task.outputOrder(probe, build)
    val text = emit(output)
    val leave = stop.map { s =>
      s"""
         |if ($s) {
         |  $from = $p + 1;
         |  ${countRun(emitted, probeIsTail)}
         |  return;
         |}""".stripMargin
    }.getOrElse("")
    s"""
       |${columns.declareLocals}
       |while (${nextRun(probeIsTail)}()) {
       |  final int $end = $until;
       |  long $emitted = 0L;
       |  for (int $p = $from; $p < $end; $p++) {
       |    $check
       |    $emitted += 1L;
       |    $text
       |    $leave
       |  }
       |  $from = $end;
       |  ${countRun(emitted, probeIsTail)}
       |}""".stripMargin
  }

  /** At the end of a run, or where it is left: `emitted` rows came of it. */
  private def countRun(emitted: String, probeIsTail: Option[String]): String = {
    val isPair = Seq(
      if (role.padsProbe) Some(s"$until > 0") else None,
      probeIsTail.map(tail => s"!($tail)")
    ).flatten
    val onlyPairs = if (isPair.isEmpty) "" else isPair.mkString("if (", " && ", ") ")
    val remember = if (role.padsProbe) s"$found |= $emitted > 0L;" else ""
    s"$outputRows.add($emitted);\n$onlyPairs$matchedRows.add($emitted);\n$remember"
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
    val count = s"$candidateRows.add($until - $from);"
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

  /** Whether there is a match; then the row, or not, or the row with a flag. */
  private def existence(
      probe: Seq[ExprCode],
      kind: Existence,
      emit: Seq[ExprCode] => String
  ): String = {
    val matched = ctx.freshName("hasMatch")
    val text = kind match {
      case Existence.Matched => s"if ($matched) {\n$outputRows.add(1);\n${emit(probe)}\n}"
      case Existence.Unmatched => s"if (!$matched) {\n$outputRows.add(1);\n${emit(probe)}\n}"
      case Existence.Marked =>
        val flag =
          ExprCode(EmptyBlock, FalseLiteral, JavaCode.variable(matched, BooleanType))
        s"$outputRows.add(1);\n${emit(probe :+ flag)}"
    }
    s"boolean $matched = false;\n${search(probe, matched)}\n$text"
  }

  private def search(probe: Seq[ExprCode], matched: String): String =
    if (task.residual.isEmpty)
      s"""
         |$matched = $candidates.next();
         |if ($matched) {
         |  $candidateRows.add(1);
         |  $matchedRows.add(1);
         |}""".stripMargin
    else {
      val p = ctx.freshName("position")
      val end = ctx.freshName("end")
      val seen = ctx.freshName("seen")
      val check = residual(probe, columns.at(p, padded = false), orElse = "continue;")
      s"""
         |${columns.declareLocals}
         |long $seen = 0L;
         |while (!$matched && $candidates.next()) {
         |  int $p = $candidates.from();
         |  final int $end = $candidates.until();
         |  $seen -= $p;
         |  for (; !$matched && $p < $end; $p++) {
         |    $check
         |    $matched = true;
         |  }
         |  $seen += $p;
         |}
         |$candidateRows.add($seen);
         |if ($matched) $matchedRows.add(1);""".stripMargin
    }

  /**
   * Evaluates the build columns that the residual reads, and runs `orElse` unless each conjunct is true. A conjunct
   * that is null ends the check as well as a false one: the pair can't match, whatever comes after it.
   */
  def residual(
      probe: Seq[ExprCode],
      build: Seq[ExprCode],
      orElse: String,
      unless: Seq[String] = Nil
  ): String =
    if (task.residual.isEmpty) ""
    else {
      val variables = probe ++ build
      val schema = attributes(task.probeOutput ++ task.stored)
      val needed = AttributeSet.fromAttributeSets(task.residual.map(_.references))
      val load = evaluate(build, task.stored, needed)
      val checks = task.residual.map { conjunct =>
        val c = withInput(variables)(BindReferences.bindReference(conjunct, schema).genCode(ctx))
        val fails = if (c.isNull == FalseLiteral) s"!${c.value}" else s"${c.isNull} || !${c.value}"
        s"${c.code}\nif ($fails) $orElse"
      }.mkString("\n")
      if (unless.isEmpty) s"$load\n$checks"
      else s"$load\nif (!(${unless.mkString(" || ")})) {\n$checks\n}"
    }

  /**
   * A method `void mark(InternalRow row, UnmatchedRows unmatched)` that marks the build rows which match a probe row,
   * looking only at those without a match.
   */
  def markMethod(row: String, unmatched: String): String = {
    ctx.INPUT_ROW = null
    val probe = probeColumns(row, canBeNull = false)
    val needed = AttributeSet.fromAttributeSets(
      (task.probeFilter ++ task.residual ++ task.probeKeys).map(_.references)
    )
    val early = evaluate(probe, task.probeOutput, needed)
    val begin = start(probe)
    val p = ctx.freshName("position")
    val end = ctx.freshName("end")
    val inRun =
      if (task.residual.isEmpty) s"$unmatched.markRun($candidates.from(), $candidates.until());"
      else {
        val check = residual(probe, columns.at(p, padded = false), orElse = "continue;")
        s"""
           |final int $end = $candidates.until();
           |for (int $p = $unmatched.next($candidates.from()); $p < $end; $p = $unmatched.next($p + 1)) {
           |  $check
           |  $unmatched.mark($p);
           |}""".stripMargin
      }
    s"""
       |public void mark(InternalRow $row, ${classOf[UnmatchedRows].getName} $unmatched) {
       |  $early
       |  $begin
       |  ${columns.declareLocals}
       |  while ($candidates.next()) {
       |    $inRun
       |  }
       |}""".stripMargin
  }
}
