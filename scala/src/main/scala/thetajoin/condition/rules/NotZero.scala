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
}

/** Matches a condition that implies that a count, or a place counted from one, is above zero. */
private[rules] object AboveZero {
  def unapply(condition: Expression): Option[Expression] = condition match {
    case NotZero(count) => Some(count)
    case GreaterThan(count, Whole(n)) if n >= 0 => Some(count)
    case LessThan(Whole(n), count) if n >= 0 => Some(count)
    case GreaterThanOrEqual(count, Whole(n)) if n >= 1 => Some(count)
    case LessThanOrEqual(Whole(n), count) if n >= 1 => Some(count)
    case EqualTo(count, Whole(n)) if n >= 1 => Some(count)
    case EqualTo(Whole(n), count) if n >= 1 => Some(count)
    case _ => None
  }
}

private object Whole {
  def unapply(e: Expression): Option[Long] = e match {
    case Literal(number: Int, _) => Some(number.toLong)
    case Literal(number: Long, _) => Some(number)
    case _ => None
  }
}
