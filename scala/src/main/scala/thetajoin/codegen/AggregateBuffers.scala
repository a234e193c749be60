package thetajoin.codegen

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.optimizer.{NullPropagation, SimplifyConditionals}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.RuleExecutor

/**
 * The buffers of an aggregate without keys in generated code: fields, with local copies within a loop over rows.
 * Checks for null stay out of that loop where a buffer or an input can't be null: the JIT compiles such a loop while
 * it runs, and then can't be trusted to remove them.
 *
 * @param merges whether the last columns are buffers, which are merged
 */
private[thetajoin] final class AggregateBuffers(
    ctx: CodegenContext,
    functions: Seq[DeclarativeAggregate],
    output: Seq[Attribute],
    merges: Boolean
) {
  import AggregateBuffers._

  private val initialValues = functions.flatMap(_.initialValues)
  private val updates =
    functions.flatMap(f => if (merges) f.mergeExpressions else f.updateExpressions)

  /** The columns of a row. */
  val input: Seq[Attribute] = {
    val merged = if (merges) functions.flatMap(_.inputAggBufferAttributes) else Nil
    output.dropRight(merged.size) ++ merged
  }
  private val attributes = {
    val declared = functions.flatMap(_.aggBufferAttributes)
    val neverNull =
      stayNonNull(declared, declared.zip(initialValues).collect { case (a, v) if !v.nullable => a })
    declared.map(a => a.withNullability(!neverNull.contains(a)))
  }
  private val buffers = attributes.map(new Buffer(_))

  def initialize: String = {
    ctx.INPUT_ROW = null
    buffers.zip(initialValues.map(_.genCode(ctx))).map { case (buffer, value) =>
      s"${value.code}\n${assign(buffer.field, value)}"
    }.mkString("\n")
  }

  /** Ahead of a loop. */
  def load: String = buffers.map(_.load).mkString("\n")

  /** Behind a loop, or where it is left. */
  def store: String = buffers.map(b => assign(b.field, b.local)).mkString("\n")

  /** The values of the buffers in the end. */
  def results: Seq[ExprCode] = buffers.map(_.field)

  /** The columns that a row must have evaluated for `update`. */
  val read: AttributeSet = AttributeSet.fromAttributeSets(updates.map(_.references))

  /** Takes one row, within a loop. */
  def update(row: Seq[ExprCode]): String = {
    val columns = input.zip(row).map { case (attribute, variable) =>
      if (variable.isNull == FalseLiteral) attribute.withNullability(false) else attribute
    }
    val coalesced = simplified(updates, attributes ++ columns)
    val nonNull = AttributeSet(attributes.filter(onlyCoalesced(coalesced, _)))
    val expressions = coalesced.map(_.transform {
      case Coalesce(Seq(a: Attribute, _: Literal)) if nonNull.contains(a) => a
    })
    val schema = attributes.map(a => a.withNullability(a.nullable && !nonNull.contains(a)))
    val variables = buffers.zip(schema).map { case (buffer, a) =>
      if (a.nullable) buffer.local else buffer.local.copy(isNull = FalseLiteral)
    }
    val values =
      expressions.map(ExpressionCode(ctx, _, schema ++ columns, variables ++ row, crowded = true))
    val assignments = buffers.zip(values).map { case (buffer, value) =>
      assign(buffer.local, value)
    }
    (values.map(_.code.toString) ++ assignments).mkString("\n")
  }

  /** The buffers that an update leaves non-null if they are so before it, whatever the row. */
  @tailrec
  private def stayNonNull(declared: Seq[Attribute], candidates: Seq[Attribute]): AttributeSet = {
    val assumed = AttributeSet(candidates)
    val schema = declared.map(a => a.withNullability(!assumed.contains(a)))
    val nullable = declared.zip(simplified(updates, schema ++ input)).collect {
      case (a, update) if update.nullable => a
    }
    val left = candidates.filterNot(AttributeSet(nullable).contains)
    if (left.size == candidates.size) assumed else stayNonNull(declared, left)
  }

  /** A null buffer that updates read as some literal holds that literal, so that they can read it as it is. */
  private def emptyValue(buffer: Attribute): Option[Literal] =
    updates.flatMap(_.collect {
      case Coalesce(Seq(a: Attribute, literal: Literal)) if a.semanticEquals(buffer) => literal
    }).distinct match {
      case Seq(literal) => Some(literal)
      case _ => None
    }

  /** Whether a null buffer is read as the literal that it holds then, and as nothing else. */
  private def onlyCoalesced(expressions: Seq[Expression], buffer: Attribute): Boolean = {
    def plainRead(e: Expression): Boolean = e match {
      case Coalesce(Seq(a: Attribute, _: Literal)) if a.semanticEquals(buffer) => false
      case a: Attribute => a.semanticEquals(buffer)
      case other => other.children.exists(plainRead)
    }
    buffer.nullable && emptyValue(buffer).isDefined && !expressions.exists(plainRead)
  }

  private final class Buffer(attribute: Attribute) {
    private val javaType = CodeGenerator.javaType(attribute.dataType)

    val field: ExprCode = ExprCode(
      if (attribute.nullable) JavaCode.isNullGlobal(ctx.addMutableState("boolean", "bufferIsNull"))
      else FalseLiteral,
      JavaCode.global(ctx.addMutableState(javaType, "buffer"), attribute.dataType)
    )
    val local: ExprCode = ExprCode(
      if (attribute.nullable) JavaCode.isNullVariable(ctx.freshName("bufferIsNull"))
      else FalseLiteral,
      JavaCode.variable(ctx.freshName("buffer"), attribute.dataType)
    )

    def load: String = {
      val isNull = if (attribute.nullable) s"boolean ${local.isNull} = ${field.isNull};\n" else ""
      val value = emptyValue(attribute).filter(_ => attribute.nullable) match {
        case Some(literal) =>
          val empty = literal.genCode(ctx)
          s"${empty.code}\n$javaType ${local.value} = ${local.isNull} ? ${empty.value} : ${field.value};"
        case None => s"$javaType ${local.value} = ${field.value};"
      }
      isNull + value
    }
  }
}

private object AggregateBuffers {

  private object NullChecks extends RuleExecutor[LogicalPlan] {
    override protected val batches: Seq[Batch] =
      Seq(Batch("null checks", FixedPoint(10), NullPropagation, SimplifyConditionals))
  }

  /** Expressions without the checks for null that `schema` makes needless. */
  private def simplified(expressions: Seq[Expression], schema: Seq[Attribute]): Seq[Expression] = {
    val columns = AttributeMap(schema.map(a => a -> a))
    val project = expressions.map { e =>
      Alias(e.transform { case a: Attribute => columns.getOrElse(a, a) }, "value")()
    }
    NullChecks.execute(Project(project, LocalRelation(schema))).expressions.collect {
      case Alias(e, _) => e
    }
  }

  private def assign(to: ExprCode, from: ExprCode): String = {
    val isNull = if (to.isNull == FalseLiteral) "" else s"${to.isNull} = ${from.isNull};\n"
    s"$isNull${to.value} = ${from.value};"
  }
}
