package thetajoin.condition

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, LongType}

/** Raised by [[BoundedSum]]; without a stack trace, since it only marks a row. */
object OutOfBoundsKey extends ArithmeticException("sum term beyond its limit") {
  override def fillInStackTrace(): Throwable = this
}

/**
 * The sum of whole numbers, some of them negated, as 64 bits: null if a term is. A sum that does not fit 64 bits is the
 * greatest or the least number of 64 bits. Never shown to a user: only used as an index key.
 *
 * @param limit the magnitude beyond which a term counts as out of bounds, [[BoundedSum.NoLimit]] if none does
 * @param beyond the result if a term is out of bounds; without it an [[OutOfBoundsKey]] error is raised
 */
final case class BoundedSum(
    children: Seq[Expression],
    negative: Seq[Boolean],
    limit: Long,
    beyond: Option[Long] = None
) extends Expression {
  override def dataType: DataType = LongType
  override def nullable: Boolean = children.exists(_.nullable)
  override def toString: String = text(_.toString)
  override def sql: String = text(_.sql)

  private def text(of: Expression => String): String =
    children.zip(negative).map { case (term, isNegative) =>
      s"${if (isNegative) "-" else "+"} ${of(term)}"
    }.mkString(" ").stripPrefix("+ ")

  override def foldable: Boolean = false

  /** Whether it raises an error beyond its limit. */
  def fails: Boolean = limit != BoundedSum.NoLimit && beyond.isEmpty

  override def eval(input: InternalRow): Any = {
    var (high, low) = (0L, 0L)
    var isBeyond = false
    var i = 0
    while (i < children.size) {
      val value = children(i).eval(input)
      if (value == null) return null
      val term = value.asInstanceOf[Number].longValue
      isBeyond |= BoundedSum.isBeyond(term, limit)
      val sign = if (negative(i)) -1 else 1
      high += sign * (term >> 32)
      low += sign * (term & 0xffffffffL)
      i += 1
    }
    if (!isBeyond) BoundedSum.total(high, low) else beyond.getOrElse(throw OutOfBoundsKey)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val companion = s"${BoundedSum.getClass.getName}.MODULE$$"
    val (high, low) = (ctx.freshName("high"), ctx.freshName("low"))
    val (isBeyond, term) = (ctx.freshName("isBeyond"), ctx.freshName("term"))
    val steps = TermsCode(ctx, ev, children) { (i, value) =>
      val sign = if (negative(i)) "-" else "+"
      s"""
         |final long $term = (long) $value;
         |$isBeyond |= $companion.isBeyond($term, ${limit}L);
         |$high $sign= $term >> 32;
         |$low $sign= $term & 0xffffffffL;""".stripMargin
    }
    val out = beyond.fold(s"$companion.fail()")(b => s"${b}L")
    ev.copy(code = code"""
      long $high = 0L;
      long $low = 0L;
      boolean $isBeyond = false;
      $steps
      long ${ev.value} = ${ev.isNull} ? 0L : $isBeyond ? $out : $companion.total($high, $low);""")
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): BoundedSum =
    copy(children = newChildren)
}

object BoundedSum {
  val NoLimit: Long = Long.MaxValue

  def isBeyond(term: Long, limit: Long): Boolean = term > limit || term < -limit - 1

  /** The sum of `low` and of `high` times 2 to the power of 32, or the nearest number of 64 bits. */
  def total(high: Long, low: Long): Long = {
    val h = high + (low >> 32)
    if (h > Int.MaxValue) Long.MaxValue
    else if (h < Int.MinValue) Long.MinValue
    else (h << 32) | (low & 0xffffffffL)
  }

  /** For generated code. */
  def fail(): Long = throw OutOfBoundsKey
}
