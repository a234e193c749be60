package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._

/** Matches a condition that a count, or a place counted from one, is not zero. */
private[rules] object NotZero {
  def unapply(condition: Expression): Option[Expression] = condition match {
    case GreaterThan(count, Whole(0)) => Some(count)
    case LessThan(Whole(0), count) => Some(count)
    case GreaterThanOrEqual(count, Whole(1)) => Some(count)
    case LessThanOrEqual(Whole(1), count) => Some(count)
    case Not(EqualTo(count, Whole(0))) => Some(count)
    case Not(EqualTo(Whole(0), count)) => Some(count)
    case _ => None
  }

  private object Whole {
    def unapply(e: Expression): Option[Long] = e match {
      case Literal(number: Int, _) => Some(number.toLong)
      case Literal(number: Long, _) => Some(number)
      case _ => None
    }
  }
}
