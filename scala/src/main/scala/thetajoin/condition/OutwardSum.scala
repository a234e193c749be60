package thetajoin.condition

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, DoubleType, FloatType}

/**
 * The sum of weighted floating-point numbers, moved up or down by more than the arithmetic of a comparison can have
 * rounded: where the comparison holds, so does that with this sum. Null if a term is. Where terms are huge or not
 * finite there is no bound: the result is NaN, which is above all numbers, or negative infinity.
 *
 * @param isUp whether it is to be above the sum
 */
final case class OutwardSum(
    children: Seq[Expression],
    weights: Seq[Double],
    isUp: Boolean,
    precision: Precision
) extends Expression {
  override def dataType: DataType = DoubleType
  override def nullable: Boolean = children.exists(_.nullable)
  override def foldable: Boolean = false
  override def toString: String = text(_.toString)
  override def sql: String = text(_.sql)

  private def text(of: Expression => String): String = {
    val terms = children.zip(weights).map {
      case (term, 1.0) => s"+ ${of(term)}"
      case (term, -1.0) => s"- ${of(term)}"
      case (term, weight) => s"+ $weight * ${of(term)}"
    }
    terms.mkString(" ").stripPrefix("+ ") + (if (isUp) " and more" else " and less")
  }

  override def eval(input: InternalRow): Any = {
    var sum = 0.0
    var size = 0.0
    var i = 0
    while (i < children.size) {
      val value = children(i).eval(input)
      if (value == null) return null
      val term = weights(i) * value.asInstanceOf[Double]
      sum += term
      size += math.abs(term)
      i += 1
    }
    precision.outward(sum, size, isUp)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val size = ctx.freshName("size")
    val term = ctx.freshName("term")
    val steps = TermsCode(ctx, ev, children) { (i, value) =>
      s"double $term = ${weights(i)}D * $value; ${ev.value} += $term; $size += Math.abs($term);"
    }
    val precise = ctx.addReferenceObj("precision", precision)
    ev.copy(code = code"""
      double ${ev.value} = 0.0;
      double $size = 0.0;
      $steps
      ${ev.value} = $precise.outward(${ev.value}, $size, $isUp);""")
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): OutwardSum =
    copy(children = newChildren)
}

/**
 * How precise arithmetic is.
 *
 * @param rounding by how much a comparison is rounded at most, in parts of its terms, and then some
 * @param tiny by how much it is rounded if a result is too small to have digits: the square of a lesser number is
 *   zero
 * @param huge the sum of the sizes of terms up to which no step on the way can leave the range of numbers, squares
 *   included
 */
final case class Precision(rounding: Double, tiny: Double, huge: Double) {

  /** A sum moved outward, of terms of this size together. */
  def outward(sum: Double, size: Double, isUp: Boolean): Double =
    if (size <= huge) {
      val rounded = size * rounding + tiny
      if (isUp) sum + rounded else sum - rounded
    } else if (isUp) Double.NaN
    else Double.NegativeInfinity
}

object Precision {

  /** Of numbers of 64 bits, which operations round by 2^-53 of their terms each. */
  private val OfDoubles = Precision(math.pow(2, -46), tiny = 1e-18, huge = 1e100)

  /** The same of 32 bits. */
  private val OfFloats = Precision(math.pow(2, -17), tiny = 1e-12, huge = 1e9)

  /** The precision of arithmetic with these operations. */
  def of(e: Expression): Precision =
    if (e.exists(_.dataType == FloatType)) OfFloats else OfDoubles
}
