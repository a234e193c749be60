package thetajoin.aggregate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}

import thetajoin.codegen.ExpressionCode

/**
 * The buffers of aggregate functions over a run of build rows, as Java text. The buffers of one row are made in place.
 *
 * @param runs a [[RunFold]]
 */
private[thetajoin] final class FoldCode(
    ctx: CodegenContext,
    fold: Fold,
    stored: Seq[Attribute],
    runs: String
) {
  private val read = AttributeSet.fromAttributeSets(fold.ofOneRow.map(_.references))

  /**
   * Text that sets variables for the buffers, and these.
   *
   * @param run set if the row at this place may stand for a run
   */
  def apply(run: Option[Run], place: String, columns: Seq[ExprCode]): (String, Seq[ExprCode]) = {
    val load = ExpressionCode.evaluate(columns, stored, read)
    val ofRow = fold.ofOneRow.map(ExpressionCode(ctx, _, stored, columns, crowded = true))
    run match {
      case None =>
        (s"$load\n${ofRow.map(_.code).mkString("\n")}", ofRow.map(_.copy(code = EmptyBlock)))
      case Some(run) => either(run, place, load, ofRow)
    }
  }

  private def either(
      of: Run,
      from: String,
      load: String,
      ofRow: Seq[ExprCode]
  ): (String, Seq[ExprCode]) = {
    val run = ctx.freshName("run")
    val ofRun = fold.buffers.zipWithIndex.map { case (buffer, ordinal) =>
      val value = CodeGenerator.getValue(run, buffer.dataType, ordinal.toString)
      ExpressionCode.variable(ctx, buffer, value, Seq(s"$run.isNullAt($ordinal)"))
    }
    val set = fold.buffers.map { buffer =>
      val (isNull, value) = (ctx.freshName("bufferIsNull"), ctx.freshName("buffer"))
      ExprCode(JavaCode.isNullVariable(isNull), JavaCode.variable(value, buffer.dataType))
    }
    val declare = set.zip(fold.buffers).map { case (to, buffer) =>
      s"boolean ${to.isNull};\n${CodeGenerator.javaType(buffer.dataType)} ${to.value};"
    }
    def assign(from: Seq[ExprCode]): String = set.zip(from).map { case (to, from) =>
      s"${from.code}\n${to.isNull} = ${from.isNull};\n${to.value} = ${from.value};"
    }.mkString("\n")
    val text =
      s"""
         |${declare.mkString("\n")}
         |if (${of.isRun}) {
         |  final ${classOf[InternalRow].getName} $run = $runs.ofWhole($from, ${of.end});
         |  ${assign(ofRun)}
         |} else {
         |  $load
         |  ${assign(ofRow)}
         |}""".stripMargin
    (text, set)
  }
}

/** Whether a row stands for all rows to the end of a run, and where that is. */
private[thetajoin] final case class Run(isRun: String, end: String)
