package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{IntegerType, LongType}

object SharedBits extends FormRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "bit_count(a.bits ^ b.bits) <= 1",
      "(a.bits & 4294967295 = b.bits & 4294967295 OR a.bits & -4294967296 = b.bits " +
        "& -4294967296)"
    )
  )
  override val proof: String =
    "If no more than n bits differ, then of n + 1 groups of bits one at least has none of them."

  override def implied(condition: Expression): Option[Expression] = condition match {
    case LessThanOrEqual(BitwiseCount(BitwiseXor(x, y)), Literal(most: Int, _)) => of(x, y, most)
    case LessThan(BitwiseCount(BitwiseXor(x, y)), Literal(n: Int, _)) => of(x, y, n - 1)
    case GreaterThanOrEqual(Literal(most: Int, _), BitwiseCount(BitwiseXor(x, y))) =>
      of(x, y, most)
    case GreaterThan(Literal(n: Int, _), BitwiseCount(BitwiseXor(x, y))) => of(x, y, n - 1)
    case _ => None
  }

  private def of(x: Expression, y: Expression, most: Int): Option[Expression] = {
    val bits = x.dataType match {
      case LongType => java.lang.Long.SIZE
      case IntegerType => Integer.SIZE
      case _ => 0
    }
    if (most < 0 || most >= MostGroups || bits == 0) None
    else
      masks(bits, most + 1).map[Expression] { mask =>
        val ofGroup = if (bits == Integer.SIZE) Literal(mask.toInt) else Literal(mask)
        EqualTo(BitwiseAnd(x, ofGroup), BitwiseAnd(y, ofGroup))
      }.reduceOption(Or(_, _))
  }

  private def masks(bits: Int, groups: Int): Seq[Long] = {
    val ends = (0 to groups).map(i => i * bits / groups)
    ends.zip(ends.tail).map { case (from, until) =>
      (if (until - from == java.lang.Long.SIZE) -1L else (1L << (until - from)) - 1) << from
    }
  }

  /** With more groups a row has too many of the others as candidates. */
  private val MostGroups = 8
}
