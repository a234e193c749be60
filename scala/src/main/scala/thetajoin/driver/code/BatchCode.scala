package thetajoin.driver.code

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}

import thetajoin.codegen.ExpressionCode
import thetajoin.contract.Batches
import thetajoin.driver.probe.{Candidates, ProbeBatch}
import thetajoin.driver.{Existence, JoinTask}
import thetajoin.rowstore.RowStore

/**
 * Probe rows of a [[ProbeBatch]] as Java text: into it, and out again.
 *
 * @param needed the columns that are read of a row which comes out
 * @param canBeTail whether a [[BuildTail]] may stand in for rows
 */
private[driver] final class BatchCode(
    ctx: CodegenContext,
    task: JoinTask,
    relation: RelationCode,
    probeRow: ProbeCode,
    batches: Batches,
    needed: AttributeSet,
    canBeTail: Boolean
) extends ProbeRows {
  private val (flat, inRows) =
    task.probeOutput.filter(needed.contains).partition(a => RowStore.isFlat(a.dataType))

  /** Rows of a batch. Each column has an array of flags too, and there is one more array to sort into. */
  private val capacity =
    if (batches.rows > 0) batches.rows
    else ProbeBatch.capacity(flat.map(_.dataType.defaultSize + 1).sum + java.lang.Long.BYTES)
  private val arrays = flat.map(a => a.exprId -> new Arrays(a)).toMap

  private val spares = mutable.LinkedHashMap.empty[String, String]

  /**
   * A [[ProbeBatch]], null before the first row. A stage may hold the code of several joins, and a partition runs one
   * of them.
   */
  private val batch: String =
    ctx.addMutableState(classOf[ProbeBatch].getName, "batch", forceInline = true)

  override val isTail: Option[String] =
    if (canBeTail) Some(s"$batch.group() == ${Candidates.TailGroup}") else None

  override val hasNext: String = s"($batch != null && $batch.hasNext())"
  val isFull: String = s"($batch != null && $batch.isFull())"
  override val moveOn: String = s"$batch.next();"
  override val start: String =
    s"${relation.candidates}.probe($batch.group(), $batch.first(), $batch.second());"

  /** Adds a probe row, unless it gives nothing. */
  def add(probe: Seq[ExprCode]): String = {
    val read = (task.probeFilter ++ task.probeKeys).map(_.references)
    val early = AttributeSet.fromAttributeSets(needed +: read.toSeq)
    val evaluate = ExpressionCode.evaluate(probe, task.probeOutput, early)
    val (find, place) = probeRow.place(probe, batches.bounds)
    val row =
      if (inRows.isEmpty) ""
      else {
        val row = ExpressionCode.row(ctx, inRows, task.probeOutput, probe)
        s"${row.code}\n$batch.addRow(${row.value});"
      }
    val at = ctx.freshName("place")
    val store = probe.zip(task.probeOutput).flatMap { case (variable, attribute) =>
      arrays.get(attribute.exprId).map(_.store(at, variable))
    }
    val add = s"""
      |if ($batch == null) $create();
      |$row
      |final int $at = $batch.add(${place.group}, ${place.first}, ${place.second});
      |${store.mkString("\n")}""".stripMargin
    val gives = if (needsCandidate) s"if (${place.group} != ${Candidates.NoGroup})" else ""
    s"$evaluate\n$find\n$gives {\n$add\n}"
  }

  /** Ends filling, with the name of a method. */
  lazy val sort: String = {
    val (name, order, i) = (ctx.freshName("sortBatch"), ctx.freshName("order"), ctx.freshName("i"))
    val sorts = arrays.values.flatMap(_.fields).map { case (field, javaType) =>
      val spare = spareArray(javaType)
      val (from, to) = (ctx.freshName("from"), ctx.freshName("to"))
      s"""
         |{
         |  final $javaType[] $from = $field;
         |  final $javaType[] $to = $spare;
         |  for (int $i = 0; $i < $order.length; $i++) $to[$i] = $from[$order[$i]];
         |  $field = $to;
         |  $spare = $from;
         |}""".stripMargin
    }
    val method = ctx.addNewFunction(
      name,
      s"""
         |private void $name() {
         |  if ($batch == null || !$batch.sort()) return;
         |  final int[] $order = $batch.order();
         |  ${sorts.mkString("\n")}
         |}""".stripMargin
    )
    s"$method();"
  }

  /**
   * The name of a method that fills the batch from the iterator `input`, if all its rows were read, and says whether
   * there are rows then.
   */
  def fillFrom(input: String): String = {
    val (name, row) = (ctx.freshName("fillBatch"), ctx.freshName("probeRow"))
    val addRow = add(probeRow.columns(row, canBeNull = false))
    val addNext = if (canBeTail) s"if ($row == null) {\n$addTail\n} else {\n$addRow\n}" else addRow
    ctx.addNewFunction(
      name,
      s"""
         |private boolean $name() {
         |  while (!$hasNext && $input.hasNext()) {
         |    while (!$isFull && $input.hasNext()) {
         |      final InternalRow $row = (InternalRow) $input.next();
         |      $addNext
         |    }
         |    $sort
         |  }
         |  return $hasNext;
         |}""".stripMargin
    )
  }

  /** Adds the [[BuildTail]] that stands in for rows. */
  private def addTail: String =
    s"if ($batch == null) $create();\n$batch.addTail();"

  /** Whether a probe row without a candidate gives no row. */
  private def needsCandidate: Boolean =
    !task.role.padsProbe && task.role.probeExistence.forall(_ == Existence.Matched)

  override def columns: Seq[ExprCode] = task.probeOutput.map { attribute =>
    arrays.get(attribute.exprId) match {
      case Some(array) => array.read
      case None if needed.contains(attribute) =>
        probeRow.column(s"$batch.row()", attribute, inRows.indexOf(attribute), isTail)
      case None =>
        // Nobody reads it: the text would not compile.
        ExprCode(FalseLiteral, JavaCode.variable("notKept", attribute.dataType))
    }
  }

  private def spareArray(javaType: String): String =
    spares.getOrElseUpdate(javaType, array(javaType, "batchSpare"))

  private def array(javaType: String, name: String): String =
    ctx.addMutableState(s"$javaType[]", name, forceInline = true)

  /** The name of a method that makes the batch and its arrays. */
  private lazy val create: String = {
    val fields = arrays.values.flatMap(_.fields).toSeq
    val spare = fields.map(_._2).distinct.map(javaType => (spareArray(javaType), javaType))
    val made = (fields ++ spare).map { case (field, javaType) =>
      s"$field = new $javaType[$capacity];"
    }
    val name = ctx.freshName("createBatch")
    ctx.addNewFunction(
      name,
      s"""
         |private void $name() {
         |  $batch = new ${classOf[ProbeBatch].getName}($capacity, ${inRows.size});
         |  ${made.mkString("\n")}
         |}""".stripMargin
    )
  }

  private final class Arrays(attribute: Attribute) {
    private val javaType = CodeGenerator.javaType(attribute.dataType)
    private val values = array(javaType, "batchValues")
    private val nulls = if (attribute.nullable) Some(array("boolean", "batchNulls")) else None

    /** Arrays, and the types of their elements. */
    def fields: Seq[(String, String)] = (values, javaType) +: nulls.map((_, "boolean")).toSeq

    def store(place: String, variable: ExprCode): String =
      (s"$values[$place] = ${variable.value};" +:
        nulls.map(flags => s"$flags[$place] = ${variable.isNull};").toSeq).mkString("\n")

    def read: ExprCode = ExpressionCode.variable(
      ctx,
      attribute,
      s"$values[$batch.place()]",
      isTail ++ nulls.map(flags => s"$flags[$batch.place()]")
    )
  }
}
