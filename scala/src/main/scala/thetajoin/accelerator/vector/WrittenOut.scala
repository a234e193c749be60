package thetajoin.accelerator.vector

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DoubleType, FloatType}

/**
 * Sums over the coordinates of two vectors, as SQL writes them by functions of arrays:
 *
 * {{{
 *   aggregate(zip_with(a.v, b.v, (x, y) -> x * y), 0D, (sum, z) -> sum + z)
 *   sqrt(aggregate(zip_with(a.v, b.v, (x, y) -> pow(x - y, 2)), 0D, (sum, z) -> sum + z))
 *   the first one / (sqrt(aggregate(a.v, 0D, (sum, x) -> sum + x * x)) * sqrt(aggregate(b.v, ..)))
 * }}}
 */
private[vector] object WrittenOut {

  /** An inner product, a cosine, a distance, or the square of one. */
  def unapply(e: Expression): Option[Compared] = e match {
    case Divide(Widened(Sum(sum)), lengths, _) => sum.ofProducts.flatMap(cosine(_, lengths))
    case Sqrt(Widened(Sum(sum))) => sum.ofDifferences.map(_.copy(isSquared = false))
    case Sum(sum) => sum.ofProducts.orElse(sum.ofDifferences)
    case _ => None
  }

  /** Of an inner product by the lengths of its vectors. */
  private def cosine(product: Compared, divisor: Expression): Option[Compared] = divisor match {
    case If(EqualTo(of, Folded(0.0)), Literal(null, _), other) if of.semanticEquals(other) =>
      cosine(product, other)
    case Lengths(l, r) if areOf(product, l.vector, r.vector) =>
      val isSingle = product.isSingle || l.isSingle || r.isSingle
      Some(product.copy(measure = Measure.Cosine, isSingle = isSingle))
    case _ => None
  }

  private def areOf(product: Compared, v: Expression, w: Expression): Boolean = {
    def are(l: Expression, r: Expression) = v.semanticEquals(l) && w.semanticEquals(r)
    are(product.left, product.right) || are(product.right, product.left)
  }

  private object Lengths {
    def unapply(e: Expression): Option[(Squares, Squares)] = e match {
      case Multiply(Sqrt(l), Sqrt(r), _) => both(l, r)
      case Sqrt(Widened(Multiply(l, r, _))) => both(l, r)
      case _ => None
    }

    private def both(l: Expression, r: Expression) =
      for (x <- squares(widened(l)); y <- squares(widened(r))) yield (x, y)

    private def squares(e: Expression): Option[Squares] = e match {
      case Total(ArrayTransform(vector, LambdaFunction(term, Seq(x), _)), added, z)
          if isVariable(added, z) =>
        ofTerm(vector, x, term, e)
      case Total(vector, term, x) => ofTerm(vector, x, term, e)
      case _ => None
    }

    private def ofTerm(vector: Expression, x: NamedExpression, term: Expression, e: Expression) =
      if (isSquare(widened(term), x)) Some(Squares(vector, isSingle(e, term))) else None

    private def isSquare(term: Expression, x: NamedExpression): Boolean = term match {
      case Multiply(a, b, _) => isVariable(a, x) && isVariable(b, x)
      case Pow(a, Folded(2.0)) => isVariable(a, x)
      case _ => false
    }
  }

  /** A sum of squares of coordinates. */
  private final case class Squares(vector: Expression, isSingle: Boolean)

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
      case Total(ZipWith(left, right, LambdaFunction(term, Seq(x, y), _)), added, z)
          if isVariable(added, z) =>
        Some(Sum(left, right, x, y, widened(term), isSingle(e, term)))
      case _ => None
    }
  }

  /** Whether a sum of such terms, or a term, is computed in 32 bits. */
  private def isSingle(sum: Expression, term: Expression): Boolean =
    sum.dataType == FloatType || term.exists {
      case _: NamedExpression => false
      case computed => computed.dataType == FloatType
    }

  /** The array whose elements are summed up, with what is added for an element, and its variable. */
  private object Total {
    def unapply(e: Expression): Option[(Expression, Expression, NamedExpression)] = e match {
      case ArrayAggregate(
            array,
            Folded(0.0),
            LambdaFunction(Add(a, b, _), Seq(sum, z), _),
            LambdaFunction(result, Seq(whole), _)
          )
          if isVariable(result, whole) &&
            (sum.dataType == DoubleType || sum.dataType == FloatType) =>
        if (isVariable(a, sum)) Some((array, b, z))
        else if (isVariable(b, sum)) Some((array, a, z))
        else None
      case _ => None
    }
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

  private object Widened {
    def unapply(e: Expression): Some[Expression] = Some(widened(e))
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
