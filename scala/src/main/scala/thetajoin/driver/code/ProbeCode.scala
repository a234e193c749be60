package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeSeq,
  AttributeSet,
  Expression
}
import org.apache.spark.sql.types.{BinaryType, DataType, LongType, StringType}
import org.apache.spark.unsafe.Platform

import thetajoin.codegen.ExpressionCode
import thetajoin.driver.JoinTask
import thetajoin.driver.probe.Candidates

/** A probe row as Java text: its columns, its own condition, its keys and so its candidates. */
private[driver] final class ProbeCode(
    ctx: CodegenContext,
    task: JoinTask,
    relation: RelationCode
) {
  private val candidates = relation.candidates
  private val schema: AttributeSeq = task.probeOutput

  /** Columns of the row object `row`, read when needed; null if the row is, in the tail. */
  def columns(row: String, canBeNull: Boolean): Seq[ExprCode] = {
    val isTail = if (canBeNull) Some(s"$row == null") else None
    task.probeOutput.zipWithIndex.map { case (attribute, ordinal) =>
      column(row, attribute, ordinal, isTail)
    }
  }

  /** A column of the row object `row`; null where the condition `isTail` holds. */
  def column(row: String, attribute: Attribute, ordinal: Int, isTail: Option[String]): ExprCode =
    ExpressionCode.variable(
      ctx,
      attribute,
      CodeGenerator.getValue(row, attribute.dataType, ordinal.toString),
      isTail ++ (if (attribute.nullable) Some(s"$row.isNullAt($ordinal)") else None)
    )

  /**
   * Evaluates, ahead of a row's candidates, the values that are needed once a row: columns that conditions read, and
   * keys unless the row `isPlaced` already, and all whose values are primitive if many rows may come of one. The
   * others are left to whoever consumes a match.
   */
  def early(probe: Seq[ExprCode], isPlaced: Boolean, manyRows: Boolean): String = {
    val ofStart = if (isPlaced) Nil else task.probeFilter ++ task.probeKeys
    val read = (task.ofCandidates ++ ofStart).map(_.references)
    val primitive = task.probeOutput.filter(a => CodeGenerator.isPrimitiveType(a.dataType))
    val needed =
      AttributeSet.fromAttributeSets(read) ++ AttributeSet(if (manyRows) primitive else Nil)
    ExpressionCode.evaluate(probe, task.probeOutput, needed)
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
    ifAsked(probe, key, orElse = s"$candidates.none();")
  }

  /**
   * Finds where a row of a batch is looked up, by keys; the last `bounds` of them are the index's own. Gives the
   * variables that hold the place too.
   */
  def place(probe: Seq[ExprCode], bounds: Int): (String, ProbePlace) = {
    val place =
      ProbePlace(ctx.freshName("group"), ctx.freshName("first"), ctx.freshName("second"))
    val (equal, numbers) = task.probeKeys.splitAt(task.probeKeys.size - bounds)
    val values = numbers.map(ExpressionCode(ctx, _, schema, probe))
    val (groupCode, group) = equal match {
      case Nil => ("", s"$candidates.group(0L)")
      case Seq(key) if key.dataType == LongType && !(task.takesNullKeys && key.nullable) =>
        val k = ExpressionCode(ctx, key, schema, probe)
        (k.code.toString, s"${k.isNull} ? $none : $candidates.group((long) ${k.value})")
      case keys =>
        val row = ExpressionCode.row(ctx, keys, schema, probe)
        (row.code.toString, s"${anyNull(row, keys)} ? $none : $candidates.group(${row.value})")
    }
    val stores = Seq(place.first, place.second).zip(values).map { case (variable, v) =>
      s"$variable = (long) ${v.value};"
    }
    val find = s"""
      |${values.map(_.code).mkString("\n")}
      |if (!(${anyNull(values)})) {
      |  $groupCode
      |  ${stores.mkString("\n")}
      |  ${place.group} = $group;
      |}""".stripMargin
    val held =
      if (!task.keysCanFail) find
      else s"try {\n$find\n} catch (Exception keyFailed) {\n${place.group} = $every;\n}"
    val text = s"""
      |int ${place.group} = $none;
      |long ${place.first} = 0L;
      |long ${place.second} = 0L;
      |${ifAsked(probe, held, orElse = "")}""".stripMargin
    (text, place)
  }

  private def none: Int = Candidates.NoGroup
  private def every: Int = Candidates.EveryGroup

  /** Sets `position` to the position of the probe row's only candidate, if it has one. */
  def lookUp(probe: Seq[ExprCode], lookup: Lookup, position: String): String = {
    val find = (lookup, task.probeKeys) match {
      case (Lookup.ByLongs(index), keys) =>
        longs(keys, probe)(numbers => s"$position = $index.find($numbers);", orElse = "")
      case (Lookup.ByBytes(index), Seq(key)) if isBytes(key.dataType) =>
        val k = ExpressionCode(ctx, key, schema, probe)
        s"${k.code}\nif (!${k.isNull}) $position = $index.find(${bytes(k, key.dataType)});"
      case (Lookup.ByBytes(index), keys) =>
        val row = ExpressionCode.row(ctx, keys, schema, probe)
        val place =
          Seq("getBaseObject", "getBaseOffset", "getSizeInBytes").map(m => s"${row.value}.$m()")
        s"${row.code}\nif (!${anyNull(row, keys)}) $position = $index.find(${place.mkString(", ")});"
    }
    ifAsked(probe, find, orElse = "")
  }

  /** Several numbers are handed over in an array that is used for every row. */
  private def longs(keys: Seq[Expression], probe: Seq[ExprCode])(
      use: String => String,
      orElse: String
  ): String = {
    val values = keys.map(ExpressionCode(ctx, _, schema, probe))
    val numbers = ctx.addMutableState(
      "long[]",
      "numbers",
      v => s"$v = new long[${values.size}];",
      forceInline = true
    )
    val stores = values.zipWithIndex.map { case (k, i) => s"$numbers[$i] = (long) ${k.value};" }
    val otherwise = if (orElse.isEmpty) "" else s"else {\n$orElse\n}"
    s"""
       |${values.map(_.code).mkString("\n")}
       |if (!(${anyNull(values)})) {
       |  ${stores.mkString("\n")}
       |  ${use(numbers)}
       |} $otherwise""".stripMargin
  }

  /** Where the bytes of a value are. */
  private def bytes(k: ExprCode, t: DataType): String = t match {
    case BinaryType => s"${k.value}, (long) ${Platform.BYTE_ARRAY_OFFSET}, ${k.value}.length"
    case _ => s"${k.value}.getBaseObject(), ${k.value}.getBaseOffset(), ${k.value}.numBytes()"
  }

  private def anyNull(values: Seq[ExprCode]): String =
    if (values.isEmpty) "false" else values.map(_.isNull).mkString(" || ")

  private def anyNull(row: ExprCode, keys: Seq[Expression]): String =
    if (!task.takesNullKeys && keys.exists(_.nullable)) s"${row.value}.anyNull()" else "false"

  /** Runs `text`, which evaluates keys, if the probe row's own condition holds and its keys are to be evaluated. */
  private def ifAsked(probe: Seq[ExprCode], text: String, orElse: String): String = {
    val asked =
      if (!task.keysMayRaise) text
      else s"if (${relation.hasRows}) {\n$text\n} else {\n$orElse\n}"
    task.probeFilter match {
      case None => asked
      case Some(filter) =>
        val passes = ExpressionCode(ctx, filter, schema, probe)
        s"""
           |${passes.code}
           |if (${ExpressionCode.isFalse(passes)}) {
           |  $orElse
           |} else {
           |  $asked
           |}""".stripMargin
    }
  }

  private def startKeys(probe: Seq[ExprCode]): String = task.probeKeys match {
    case keys if task.takesNullKeys => startRow(keys, probe)
    case Seq(key) if isBytes(key.dataType) && relation.takesBytes =>
      val k = ExpressionCode(ctx, key, schema, probe)
      s"${k.code}\n" +
        unlessNull(k.isNull.toString, s"$candidates.probe(${bytes(k, key.dataType)});")
    case keys if keys.nonEmpty && keys.forall(_.dataType == LongType) && relation.takesLongs =>
      longs(keys, probe)(numbers => s"$candidates.probe($numbers);", s"$candidates.none();")
    case keys => startRow(keys, probe)
  }

  private def startRow(keys: Seq[Expression], probe: Seq[ExprCode]): String = {
    val row = ExpressionCode.row(ctx, keys, schema, probe)
    s"${row.code}\n" + unlessNull(anyNull(row, keys), s"$candidates.probe(${row.value});")
  }

  private def isBytes(t: DataType): Boolean = t match {
    case _: StringType | BinaryType => true
    case _ => false
  }

  private def unlessNull(isNull: String, text: String): String =
    if (isNull == "false") text else s"if ($isNull) $candidates.none(); else $text"
}

/** The variables that hold where a row of a batch is looked up: see [[Candidates]]. */
private[driver] final case class ProbePlace(group: String, first: String, second: String)
