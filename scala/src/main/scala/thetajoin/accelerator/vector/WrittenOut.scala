package thetajoin.accelerator.vector

import scala.util.Try

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
    case Divide(Sum(sum), lengths, _) => sum.ofProducts.flatMap(cosine(e, _, lengths))
    case Sqrt(child) => ofSquares(widened(child)).map(_.copy(isSquared = false))
    case Sum(sum) => sum.ofProducts.orElse(sum.ofDifferences)
    case _ => None
  }

  /** Of an inner product and a product of lengths. Where it is zero, the quotient may be an error. */
  private def cosine(e: Expression, product: Compared, lengths: Expression): Option[Compared] = {
    def ofVector(v: Expression) = Seq(product.left, product.right).find(_.semanticEquals(v))
    val zeroFails = Try(e.withNewChildren(Seq(Literal(1.0), Literal(0.0))).eval()).isFailure
    lengths match {
      case If(EqualTo(of, Folded(0.0)), Literal(null, _), other) if of.semanticEquals(other) =>
        cosine(e, product, other).map(_.copy(zeroFails = false))
      case Lengths(l, r) =>
        val found = Seq(l, r).map(squares => ofVector(squares.vector))
        if (found.forall(_.nonEmpty) && found.distinct.size == 2)
          Some(product.copy(
            measure = Measure.Cosine,
            isSingle = product.isSingle || l.isSingle || r.isSingle,
            zeroFails = zeroFails
          ))
        else None
      case _ => None
    }
  }

  private object Lengths {
    def unapply(e: Expression): Option[(Squares, Squares)] = e match {
      case Multiply(Sqrt(l), Sqrt(r), _) => both(l, r)
      case Sqrt(child) => ofProduct(widened(child))
      case _ => None
    }

    private def ofProduct(e: Expression) = e match {
      case Multiply(l, r, _) => both(l, r)
      case _ => None
    }

    private def both(l: Expression, r: Expression) =
      for (x <- squares(widened(l)); y <- squares(widened(r))) yield (x, y)

    private def squares(e: Expression): Option[Squares] = e match {
      case Total(TransformedBy(vector, x, term), added, z) if isVariable(added, z) =>
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

  private object TransformedBy {
    def unapply(e: Expression): Option[(Expression, NamedExpression, Expression)] = e match {
      case ArrayTransform(vector, LambdaFunction(term, Seq(x), _)) => Some((vector, x, term))
      case _ => None
    }
  }

  /** A sum of squares of coordinates. */
  private final case class Squares(vector: Expression, isSingle: Boolean)

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
