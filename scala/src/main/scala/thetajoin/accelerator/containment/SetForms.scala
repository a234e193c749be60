package thetajoin.accelerator.containment

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/** Matches a function of one variable. */
private object EachElement {
  def unapply(e: Expression): Option[(NamedLambdaVariable, Expression)] = e match {
    case LambdaFunction(body, Seq(x: NamedLambdaVariable), _) => Some((x, body))
    case _ => None
  }
}

/** Matches how many elements an array has. */
private object SizeOf {
  def unapply(e: Expression): Option[Expression] = e match {
    case Size(child, _) => Some(child)
    case _ => None
  }
}

/**
 * Matches a comparison of whole numbers as `value >= least`, where `least` is a literal or a [[SizeOf]]. A size that
 * is not 0 is at least 1, unless the size of a null is -1, as a legacy setting of Spark's has it.
 */
private object AtLeast {
  def unapply(e: Expression): Option[(Expression, Expression)] = e match {
    case GreaterThanOrEqual(l, r) => Some((l, r))
    case LessThanOrEqual(l, r) => Some((r, l))
    case GreaterThan(l, Literal(n: Int, IntegerType)) if n < Int.MaxValue =>
      Some((l, Literal(n + 1)))
    case LessThan(Literal(n: Int, IntegerType), r) if n < Int.MaxValue => Some((r, Literal(n + 1)))
    case Not(EqualTo(size @ Size(_, false), Literal(0, IntegerType))) => Some((size, Literal(1)))
    case Not(EqualTo(Literal(0, IntegerType), size @ Size(_, false))) => Some((size, Literal(1)))
    case _ => None
  }
}

/** Matches that an array has no elements. By a legacy setting of Spark's the size of a null is -1. */
private object IsEmpty {
  def unapply(e: Expression): Option[Expression] = e match {
    case EqualTo(SizeOf(array), Literal(0, IntegerType)) => Some(array)
    case EqualTo(Literal(0, IntegerType), SizeOf(array)) => Some(array)
    case LessThanOrEqual(Size(array, false), Literal(0, IntegerType)) => Some(array)
    case LessThan(Size(array, false), Literal(1, IntegerType)) => Some(array)
    case GreaterThanOrEqual(Literal(0, IntegerType), Size(array, false)) => Some(array)
    case GreaterThan(Literal(1, IntegerType), Size(array, false)) => Some(array)
    case _ => None
  }
}
