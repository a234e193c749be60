package thetajoin.accelerator.vector

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DoubleType, FloatType}

/**
 * Sums over the coordinates of two vectors, as SQL writes them by functions of arrays:
 *
 * {{{
 *   aggregate(zip_with(a.v, b.v, (x, y) -> x * y), 0D, (sum, z) -> sum + z)
 *   sqrt(aggregate(zip_with(a.v, b.v, (x, y) -> pow(x - y, 2)), 0D, (sum, z) -> sum + z))
 * }}}
 */
private[vector] object WrittenOut {

  /** An inner product, a distance, or the square of one. */
  def unapply(e: Expression): Option[Compared] = e match {
    case Sqrt(child) => ofSquares(widened(child)).map(_.copy(isSquared = false))
    case Sum(sum) => sum.ofProducts.orElse(sum.ofDifferences)
    case _ => None
  }

  private def ofSquares(e: Expression): Option[Compared] = e match {
    case Sum(sum) => sum.ofDifferences
    case _ => None
  }

  /** Of a term for each coordinate, x of `left` and y of `right`. */
  private final case class Sum(
      left: Expression,
      right: Expression,
      x: NamedExpression,
      y: NamedExpression,
      term: Expression,
      isSingle: Boolean
  ) {
    def ofProducts: Option[Compared] = term match {
      case Multiply(a, b, _) if areOfBoth(a, b) => Some(compared(Measure.Product))
      case _ => None
    }

    def ofDifferences: Option[Compared] = {
      val difference = term match {
        case Multiply(a, b, _) if a.semanticEquals(b) => Some(a)
        case Pow(a, Folded(2.0)) => Some(widened(a))
        case _ => None
      }
      difference.collect {
        case Subtract(a, b, _) if areOfBoth(a, b) =>
          compared(Measure.Distance).copy(isSquared = true)
      }
    }

    private def areOfBoth(a: Expression, b: Expression): Boolean = {
      def are(p: Expression, q: Expression) = isVariable(p, x) && isVariable(q, y)
      are(a, b) || are(b, a)
    }

    private def compared(measure: Measure) = Compared(measure, left, right, isSingle)
  }

  private object Sum {
    def unapply(e: Expression): Option[Sum] = e match {
      case ArrayAggregate(
            ZipWith(left, right, LambdaFunction(term, Seq(x, y), _)),
            Folded(0.0),
            LambdaFunction(Add(a, b, _), Seq(sum, z), _),
            LambdaFunction(result, Seq(whole), _)
          )
          if isSum(a, b, sum, z) && isVariable(result, whole) &&
            (sum.dataType == DoubleType || sum.dataType == FloatType) =>
        val isSingle = sum.dataType == FloatType || term.exists {
          case _: NamedExpression => false
          case computed => computed.dataType == FloatType
        }
        Some(Sum(left, right, x, y, widened(term), isSingle))
      case _ => None
    }

    private def isSum(
        a: Expression,
        b: Expression,
        sum: NamedExpression,
        z: NamedExpression
    ): Boolean =
      isVariable(a, sum) && isVariable(b, z) || isVariable(a, z) && isVariable(b, sum)
  }

  private def isVariable(e: Expression, variable: NamedExpression): Boolean = widened(e) match {
    case v: NamedLambdaVariable => v.exprId == variable.exprId
    case _ => false
  }

  /** Without a cast that keeps each value. */
  private def widened(e: Expression): Expression = e match {
    case Cast(child, DoubleType, _, _) if child.dataType == FloatType => child
    case other => other
  }

  private object Folded {
    def unapply(e: Expression): Option[Double] =
      if (!e.foldable) None
      else
        e.eval() match {
          case value: Double => Some(value)
          case value: Float => Some(value.toDouble)
          case _ => None
        }
  }
}
