package thetajoin.large

import java.util.Arrays

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{ConditionalExpression, Expression}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{DataType, IntegerType}

/**
 * The range of a row in which all of its values lie: from one of the bounds, which it includes, to the next.
 * [[RangeOf.Several]] if they lie in more than one, or if a value can't be computed. Null if a value is null: such a
 * row has no match.
 *
 * @param values one or two numbers of 64 bits
 * @param bounds an array of numbers of 64 bits in ascending order, the same for all rows
 * @param severalWithoutBounds whether a row counts as one in several ranges if there are no bounds
 */
final case class RangeOf(
    values: Seq[Expression],
    bounds: Expression,
    severalWithoutBounds: Boolean
) extends ConditionalExpression {
  override def children: Seq[Expression] = values :+ bounds

  /** None: an error of a value is caught here, and must not be raised by code that computes it ahead. */
  override def alwaysEvaluatedInputs: Seq[Expression] = Nil
  override def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): RangeOf = this
  override def branchGroups: Seq[Seq[Expression]] = Nil

  override def dataType: DataType = IntegerType
  override def nullable: Boolean = true
  override def prettyName: String = "range_of"

  @transient private lazy val ascending: Array[Long] =
    bounds.eval().asInstanceOf[ArrayData].toLongArray()

  /** Stops at the first null, as generated code does: some rows of a side may be seen by one, others by the other. */
  override def eval(input: InternalRow): Any =
    try {
      val first = values.head.eval(input)
      if (first == null) null
      else {
        val second = if (values.size == 1) first else values(1).eval(input)
        if (second == null) null
        else {
          val (one, other) = (first.asInstanceOf[Long], second.asInstanceOf[Long])
          RangeOf.of(ascending, one, other, severalWithoutBounds)
        }
      }
    } catch {
      case NonFatal(_) => RangeOf.Several
    }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val array = bounds.genCode(ctx)
    val ascending = ctx.addMutableState("long[]", "rangeBounds")
    val companion = s"${RangeOf.getClass.getName}.MODULE$$"
    val ends = values.map(_ => ctx.freshName("end"))
    val steps = values.zip(ends).foldRight(
      s"""
         |${ev.value} = $companion.of($ascending, ${ends.head}, ${ends.last}, $severalWithoutBounds);
         |${ev.isNull} = false;""".stripMargin
    ) { case ((value, end), inner) =>
      val v = value.genCode(ctx)
      s"""
         |${v.code}
         |if (!${v.isNull}) {
         |  long $end = ${v.value};
         |  $inner
         |}""".stripMargin
    }
    ev.copy(code = code"""
      if ($ascending == null) {
        ${array.code}
        $ascending = ${array.value}.toLongArray();
      }
      boolean ${ev.isNull} = true;
      int ${ev.value} = -1;
      try {
        $steps
      } catch (Exception failed) {
        ${ev.value} = ${RangeOf.Several};
        ${ev.isNull} = false;
      }""")
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): RangeOf =
    copy(newChildren.init, newChildren.last, severalWithoutBounds)
}

object RangeOf {
  val Several: Int = -1

  def of(bounds: Array[Long], one: Long, other: Long, severalWithoutBounds: Boolean): Int =
    if (bounds.length == 0 && severalWithoutBounds) Several
    else {
      val range = of(bounds, one)
      if (one == other || of(bounds, other) == range) range else Several
    }

  def of(bounds: Array[Long], value: Long): Int = {
    val found = Arrays.binarySearch(bounds, value)
    if (found >= 0) found + 1 else -found - 1
  }
}
