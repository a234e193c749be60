package thetajoin.large

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression, Nondeterministic}
import org.apache.spark.sql.types.{BooleanType, DataType}

/**
 * Whether no earlier row of the task has both numbers at least as high: false for a null. It may be true for rows
 * that have one, where many rows have none.
 */
private[thetajoin] final case class Undominated(left: Expression, right: Expression)
    extends BinaryExpression
    with Nondeterministic {
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = false
  override def stateful: Boolean = true
  override def prettyName: String = "undominated"

  @transient private var staircase: Staircase = _

  override protected def initializeInternal(partition: Int): Unit = staircase = new Staircase

  override protected def evalInternal(input: InternalRow): Any = {
    val (x, y) = (left.eval(input), right.eval(input))
    x != null && y != null && staircase.isNew(x.asInstanceOf[Long], y.asInstanceOf[Long])
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val ofTask = ctx.addMutableState(classOf[Staircase].getName, "staircase")
    ctx.addPartitionInitializationStatement(s"$ofTask = new ${classOf[Staircase].getName}();")
    val (x, y) = (left.genCode(ctx), right.genCode(ctx))
    ev.copy(
      code = code"""
        ${x.code}
        ${y.code}
        final boolean ${ev.value} = !${x.isNull} && !${y.isNull} && $ofTask.isNew(${x.value}, ${y.value});""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression
  ): Undominated = copy(left = newLeft, right = newRight)
}

/** Pairs of numbers, up to so many. No other pair seen so far is at least as high in both numbers. */
private[thetajoin] final class Staircase(most: Int) {

  /** For generated code. */
  def this() = this(Staircase.Most)

  // By ascending first numbers; second ones then descend.
  private val xs, ys = new Array[Long](most)
  private var size = 0

  def isNew(x: Long, y: Long): Boolean = {
    val at = firstFrom(x)
    if (at < size && ys(at) >= y) false
    else {
      var from = at
      while (from > 0 && ys(from - 1) <= y) from -= 1
      val until = if (at < size && xs(at) == x) at + 1 else at
      if (size - (until - from) < most) replace(from, until, x, y)
      true
    }
  }

  private def firstFrom(x: Long): Int = {
    val found = java.util.Arrays.binarySearch(xs, 0, size, x)
    if (found >= 0) found else -(found + 1)
  }

  private def replace(from: Int, until: Int, x: Long, y: Long): Unit = {
    System.arraycopy(xs, until, xs, from + 1, size - until)
    System.arraycopy(ys, until, ys, from + 1, size - until)
    xs(from) = x
    ys(from) = y
    size += 1 - (until - from)
  }
}

private object Staircase {

  /** Of values in random order only some tens are there at once. */
  private val Most = 4096
}
