package thetajoin.driver.code

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.codegen._

import thetajoin.codegen.ExpressionCode
import thetajoin.driver.source.RelationSource
import thetajoin.rowstore.{FlatColumn, PagedColumn, RowCursor, RowStore}

/**
 * Generated reads of build columns. Arrays are fields of the generated class; `declareLocals` copies those in use to
 * local variables ahead of a loop, where the JIT keeps them in registers. Whether a column of a broadcast holds nulls
 * is known when code is generated, since the relation is built by then: without nulls there is no check.
 */
private[driver] final class BuildColumns(
    ctx: CodegenContext,
    source: RelationSource,
    stored: Seq[Attribute],
    relationTerm: String,
    positions: Option[String]
) {
  private val storeClass = classOf[RowStore].getName
  private val flatClass = classOf[FlatColumn].getName
  private val cursorClass = classOf[RowCursor].getName
  private val locals = scala.collection.mutable.LinkedHashMap.empty[String, (String, String)]

  private lazy val cursor = ctx.addMutableState(
    cursorClass,
    "buildCursor",
    v => s"$v = $relationTerm.store().pages().newCursor();",
    forceInline = true
  )

  private lazy val list = ctx.freshName("positions")

  /**
   * Variables for the stored columns at a position, or a place in the list of positions; null where the condition
   * `padded`, if given, holds.
   */
  def at(place: String, padded: Option[String] = None): Seq[ExprCode] = {
    val position = positionOf(place)
    stored.zip(source.sample.store.columns).zipWithIndex.map {
      case ((attribute, column), ordinal) =>
        column match {
          case flat: FlatColumn => readFlat(attribute, flat, ordinal, position, padded)
          case paged: PagedColumn => readPaged(attribute, paged, position, padded)
        }
    }
  }

  def isListed: Boolean = positions.isDefined

  /** The position that a place is. */
  def positionOf(place: String): String = if (isListed) s"$list[$place]" else place

  /** Local copies of the arrays that code generated so far reads, for one run. */
  def declareLocals: String = {
    val listed = positions.map(term => s"final int[] $list = $term;")
    (listed ++ locals.map { case (field, (local, javaType)) =>
      s"final $javaType $local = $field;"
    }).mkString("\n")
  }

  private def readFlat(
      attribute: Attribute,
      column: FlatColumn,
      ordinal: Int,
      position: String,
      padded: Option[String]
  ): ExprCode = {
    val javaType = CodeGenerator.javaType(attribute.dataType)
    val values = array(s"$javaType[]", ordinal, "values")
    val nullTests = Seq(
      padded,
      if (!source.mayHaveNulls(column, attribute)) None
      else {
        val nulls = array("long[]", ordinal, "nulls")
        Some(s"($nulls != null && (($nulls[$position >> 6] >>> $position) & 1L) != 0L)")
      }
    ).flatten
    ExpressionCode.variable(ctx, attribute, s"$values[$position]", nullTests)
  }

  private def readPaged(
      attribute: Attribute,
      column: PagedColumn,
      position: String,
      padded: Option[String]
  ): ExprCode = {
    val row = s"$cursor.at($position)"
    val value = CodeGenerator.getValue(row, attribute.dataType, column.field.toString)
    ExpressionCode.variable(
      ctx,
      attribute,
      value,
      padded ++ Seq(s"$row.isNullAt(${column.field})")
    )
  }

  private def array(javaType: String, ordinal: Int, member: String): String = {
    val key = s"$member$ordinal"
    fields.getOrElseUpdate(
      key, {
        val field = ctx.addMutableState(
          javaType,
          s"build_$key",
          v =>
            s"$v = ($javaType) (($flatClass) ((($storeClass) $relationTerm.store()).columns()[$ordinal])).$member();",
          forceInline = true
        )
        val local = ctx.freshName(s"build_$key")
        locals(field) = (local, javaType)
        local
      }
    )
  }

  private val fields = scala.collection.mutable.Map.empty[String, String]
}
