package thetajoin.codegen

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.types.{DataType, IntegerType, LongType}

/**
 * Expressions whose generated code the JIT makes tight within a loop over pairs, in place of Spark's own. Values and
 * errors are the same.
 */
private[thetajoin] object LoopArithmetic {

  /**
   * @param crowded whether the loop holds several expressions. The overflow test of each is then a comparison: it
   *   takes longer than the processor's flag, but with several of them the JIT at times makes a loop twice as slow
   */
  def rewrite(e: Expression, crowded: Boolean): Expression = e.transformUp {
    case op: Add => exact(op, "addExact", crowded, overflows = (Long.MaxValue, Long.MaxValue))
    case op: Subtract =>
      exact(op, "subtractExact", crowded, overflows = (Long.MinValue, Long.MaxValue))
    case op: Multiply =>
      exact(op, "multiplyExact", crowded, overflows = (Long.MaxValue, Long.MaxValue))
    case EqualTo(Modulus(value, divisor), Zero()) => DivisibleBy(value, divisor)
    case EqualTo(Zero(), Modulus(value, divisor)) => DivisibleBy(value, divisor)
  }

  private def exact(
      op: BinaryArithmetic,
      method: String,
      crowded: Boolean,
      overflows: (Long, Long)
  ): Expression = {
    val (l, r) = overflows
    val limits = op.dataType match {
      case LongType => Seq(Literal(l), Literal(r))
      case IntegerType => Seq(limit(l), limit(r))
      case _ => Nil
    }
    if (limits.nonEmpty && raises(op.withNewChildren(limits))) {
      InlinedExact(op, method, crowded, op.left, op.right)
    } else op
  }

  private def limit(long: Long): Literal =
    Literal(if (long > 0) Int.MaxValue else Int.MinValue)

  /** Asks the expression, as the name of its mode is not the same in all versions of Spark. */
  private def raises(overflow: Expression): Boolean =
    try {
      overflow.eval()
      false
    } catch { case _: ArithmeticException => true }

  /**
   * ANSI arithmetic on whole numbers. Spark calls `Math.addExact` through a closure and a boxed result, which the JIT
   * removes from a loop in some compilations and not in others. Here the intrinsic stands in the code, and Spark's
   * own runs only when it overflows, to raise Spark's error.
   *
   * @param method of java.lang.Math: the same as `op`, with an ArithmeticException on overflow
   */
  private case class InlinedExact(
      op: BinaryArithmetic,
      method: String,
      crowded: Boolean,
      left: Expression,
      right: Expression
  ) extends BinaryExpression {
    override def dataType: DataType = op.dataType
    override def nullable: Boolean = left.nullable || right.nullable

    override def eval(input: InternalRow): Any = op.withNewChildren(Seq(left, right)).eval(input)

    override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
      nullSafeCodeGen(
        ctx,
        ev,
        (l, r) => {
          val spark = op.withNewChildren(Seq(operand(l), operand(r))).genCode(ctx)
          val inSpark = s"${spark.code}\n${ev.value} = ${spark.value};"
          overflowTest(s"${ev.value}", l, r) match {
            case Some(overflow) =>
              s"""
                 |${ev.value} = $l ${op.symbol} $r;
                 |if ($overflow) {
                 |  $inSpark
                 |}""".stripMargin
            case None =>
              s"""
                 |try {
                 |  ${ev.value} = Math.$method($l, $r);
                 |} catch (ArithmeticException overflow) {
                 |  $inSpark
                 |}""".stripMargin
          }
        }
      )

    /** Whether the plain result overflowed, where that is not left to the intrinsic. */
    private def overflowTest(result: String, l: String, r: String): Option[String] =
      (op, left, right) match {
        case (_: Add, _, Literal(c: Number, _)) =>
          Some(s"$result ${if (c.longValue < 0) ">" else "<"} $l")
        case (_: Add, Literal(c: Number, _), _) =>
          Some(s"$result ${if (c.longValue < 0) ">" else "<"} $r")
        case (_: Subtract, _, Literal(c: Number, _)) =>
          Some(s"$result ${if (c.longValue < 0) "<" else ">"} $l")
        case (_: Add, _, _) if crowded => Some(s"(($l ^ $result) & ($r ^ $result)) < 0")
        case (_: Subtract, _, _) if crowded => Some(s"(($l ^ $r) & ($l ^ $result)) < 0")
        case _ => None
      }

    private def operand(value: String): Expression = Operand(value, dataType)

    override protected def withNewChildrenInternal(l: Expression, r: Expression): Expression =
      copy(left = l, right = r)
  }

  /** A value that a variable holds. */
  private case class Operand(variable: String, override val dataType: DataType)
      extends LeafExpression {
    override def nullable: Boolean = false
    override def eval(input: InternalRow): Any =
      throw new UnsupportedOperationException("an operand is for generated code")
    override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
      ExprCode.forNonNullValue(JavaCode.variable(variable, dataType))
  }

  /** A remainder by a literal that no value makes an error: not 0, and not -1, where the smallest value overflows. */
  private object Modulus {
    def unapply(e: Expression): Option[(Expression, Long)] = e match {
      case r: Remainder =>
        (r.left.dataType, r.right) match {
          case (LongType, Literal(d: Long, _)) => divisible(r.left, d)
          case (IntegerType, Literal(d: Int, _)) => divisible(r.left, d.toLong)
          case _ => None
        }
      case _ => None
    }

    private def divisible(value: Expression, divisor: Long): Option[(Expression, Long)] =
      if (math.abs(divisor) >= 2) Some((value, math.abs(divisor))) else None
  }

  private object Zero {
    def unapply(e: Expression): Boolean = e match {
      case Literal(0L, LongType) | Literal(0, IntegerType) => true
      case _ => false
    }
  }

  /**
   * `child % divisor = 0` by one multiplication (Granlund and Montgomery, Division by Invariant Integers using
   * Multiplication, 1994, section 9): with `divisor = odd << shift`, multiples of `odd` times its inverse modulo 2^64
   * are the quotients, and all others lie beyond the largest quotient.
   */
  private[codegen] case class DivisibleBy(child: Expression, divisor: Long)
      extends UnaryExpression
      with Predicate {
    private val shift = java.lang.Long.numberOfTrailingZeros(divisor)
    private val odd = divisor >> shift
    private val lowBits = (1L << shift) - 1
    private val largestQuotient = Long.MaxValue / odd

    override def nullIntolerant: Boolean = true

    override protected def nullSafeEval(value: Any): Any =
      value.asInstanceOf[Number].longValue % divisor == 0

    override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
      defineCodeGen(ctx, ev, value => tests(value).mkString("(", " && ", ")"))

    private def tests(value: String): Seq[String] = {
      val even = if (shift == 0) None else Some(s"($value & ${lowBits}L) == 0L")
      val multiple =
        if (odd == 1) None
        else
          Some(
            s"($value * ${inverse(odd)}L + ${largestQuotient}L) + Long.MIN_VALUE <= ${2 * largestQuotient + Long.MinValue}L"
          )
      (even ++ multiple).toSeq
    }

    /** Modulo 2^64, by Newton's iteration: each step doubles the bits that are right, from three. */
    private def inverse(odd: Long): Long =
      Iterator.iterate(odd)(x => x * (2 - odd * x)).drop(5).next()

    override protected def withNewChildInternal(newChild: Expression): Expression =
      copy(child = newChild)
  }
}
