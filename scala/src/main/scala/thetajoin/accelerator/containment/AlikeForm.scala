package thetajoin.accelerator.containment

import scala.annotation.tailrec
import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{IntegerType, NumericType}

import thetajoin.condition.NumberForms.{Constant, RoundedQuotient, Times, asDouble, plain}
import thetajoin.condition.{OrderedBy, Safety}

/**
 * The forms in which people ask how alike two arrays are:
 *
 * {{{
 *   size(array_intersect(a.x, b.y)) / size(array_union(a.x, b.y)) >= 0.8                                  Jaccard
 *   size(array_intersect(a.x, b.y)) / (size(a.x) + size(b.y) - size(array_intersect(a.x, b.y))) >= 0.8
 *   2 * size(array_intersect(a.x, b.y)) / (size(a.x) + size(b.y)) >= 0.8                                  Dice
 *   size(array_intersect(a.x, b.y)) / sqrt(size(a.x) * size(b.y)) >= 0.8                                  cosine
 *   size(array_intersect(a.x, b.y)) / least(size(a.x), size(b.y)) >= 0.8                  a part of the smaller one
 *   size(array_intersect(a.x, b.y)) >= 0.8 * size(a.x)                                    a part of one of them
 * }}}
 *
 * The limit is a number, or a column of one side. A count of elements in common that is compared with a column
 * (`size(array_intersect(a.x, b.y)) >= b.least`) is such a form too.
 *
 * An array may have an element twice, where Spark counts it twice. It is counted once here, which asks for less.
 *
 * @param of the number that the elements in common are a part of
 * @param part of it, a double: a literal, or an expression of one side
 * @param giveNull whether two arrays without elements give null, as a quotient by zero may
 * @param isQuotient whether two arrays without elements give null or an error, and never true
 */
private[containment] final case class AlikeForm(
    shared: ArrayIntersect,
    of: AlikeForm.Whole,
    part: Expression,
    giveNull: Boolean,
    isQuotient: Boolean
) {
  def constant: Option[Double] = part match {
    case Literal(number: Double, _) => Some(number)
    case _ => None
  }

  def column: Option[Expression] = if (constant.isEmpty) Some(part) else None

  /** The same with the sides exchanged. */
  def turned: AlikeForm = of match {
    case AlikeForm.Left => copy(of = AlikeForm.Right)
    case AlikeForm.Right => copy(of = AlikeForm.Left)
    case _ => this
  }
}

private[containment] object AlikeForm {

  /** What the elements in common are compared with. */
  sealed trait Whole

  case object Union extends Whole
  case object Sum extends Whole
  case object GeometricMean extends Whole
  case object Smaller extends Whole
  case object Larger extends Whole
  case object Left extends Whole
  case object Right extends Whole
  case object One extends Whole

  def unapply(conjunct: Expression): Option[AlikeForm] = conjunct match {
    case OrderedBy(l, operator, r) =>
      val (less, more) = if (operator.isBelow) (plain(l), plain(r)) else (plain(r), plain(l))
      ((less, more) match {
        case (Limit(limit), Quotient(quotient)) => Some(quotient.from(limit))
        case (whole, Shared(weight, shared)) => ofShared(whole, weight, shared)
        case _ => None
      }).filter(_.constant.forall(part => part > 0.0 && part.isFinite))
    case _ => None
  }

  private def ofShared(least: Expression, weight: Double, shared: ArrayIntersect) = {
    val ofProduct = least match {
      case Times(part, of) => whole(of, shared).map((_, Literal(part / weight)))
      case _ => None
    }
    val ofColumn = least match {
      case Limit(limit) if limit.references.nonEmpty => Some((One, scaled(limit, weight)))
      case _ => None
    }
    ofProduct.orElse(ofColumn).map { case (of, part) =>
      AlikeForm(shared, of, part, giveNull = false, isQuotient = false)
    }
  }

  /** A number as a double. A constant becomes a literal. */
  private object Limit {
    def unapply(e: Expression): Option[Expression] = e match {
      case Constant(limit) => Some(Literal(limit))
      case number if number.references.nonEmpty && number.dataType.isInstanceOf[NumericType] =>
        Some(asDouble(number))
      case _ => None
    }
  }

  private def scaled(limit: Expression, weight: Double): Expression = limit match {
    case Literal(number: Double, _) => Literal(number / weight)
    case column if weight == 1.0 => column
    case column => new Multiply(column, Literal(1.0 / weight))
  }

  private def less(limit: Expression, by: Double): Expression = limit match {
    case Literal(number: Double, _) => Literal(number - by)
    case column => new Subtract(column, Literal(by))
  }

  /**
   * The elements in common as a part of a number, times a constant.
   *
   * @param rounding how far the part may be from the true one
   * @param isScaledExactly whether the constant rounds nothing
   */
  private[containment] final case class Quotient(
      shared: ArrayIntersect,
      of: Whole,
      weight: Double,
      rounding: Double,
      giveNull: Boolean,
      isScaledExactly: Boolean
  ) {
    def from(limit: Expression): AlikeForm =
      AlikeForm(shared, of, less(scaled(limit, weight), rounding), giveNull, isQuotient = true)
  }

  private[containment] object Quotient {
    def unapply(e: Expression): Option[Quotient] = e match {
      case d @ Divide(Shared(weight, shared), divisor, _) =>
        val isExact = weight == 1.0 && plain(d.left).isInstanceOf[Size]
        whole(divisor, shared)
          .map(Quotient(shared, _, weight, RoundedQuotient / weight, givesNull(d), isExact))
      case Times(weight, quotient) if weight > 0.0 =>
        unapply(plain(quotient))
          .map(q => q.copy(weight = weight * q.weight, isScaledExactly = false))
      case _ => None
    }

    /** Whether a quotient by zero is null, and no error. */
    private def givesNull(d: Divide): Boolean =
      Try(d.withNewChildren(d.children.map(c => Literal.default(c.dataType))).eval()).isSuccess
  }

  /** The number of elements in common, perhaps times a constant. */
  private object Shared {
    def unapply(e: Expression): Option[(Double, ArrayIntersect)] = plain(e) match {
      case Size(shared: ArrayIntersect, false) => Some((1.0, shared))
      case Times(weight, Shared(times, shared)) if weight > 0.0 => Some((weight * times, shared))
      case _ => None
    }
  }

  @tailrec private def whole(e: Expression, shared: ArrayIntersect): Option[Whole] = {
    val (l, r) = (shared.left, shared.right)
    def areBoth(one: Expression, other: Expression) =
      isSize(one, l) && isSize(other, r) || isSize(one, r) && isSize(other, l)
    plain(e) match {
      case Size(ArrayUnion(one, other), false)
          if areSame(one, l) && areSame(other, r) || areSame(one, r) && areSame(other, l) =>
        Some(Union)
      case Least(Seq(one, other)) if areBoth(one, other) => Some(Smaller)
      case Greatest(Seq(one, other)) if areBoth(one, other) => Some(Larger)
      case size if isSize(size, l) => Some(Left)
      case size if isSize(size, r) => Some(Right)
      case Sqrt(product) =>
        plain(product) match {
          case m @ Multiply(one, other, _)
              if areBoth(one, other) && (m.dataType != IntegerType || Safety.neverWraps(m)) =>
            Some(GeometricMean)
          case _ => None
        }
      case Multiply(one, other, _) =>
        (plain(one), plain(other)) match {
          case (Sqrt(x), Sqrt(y)) if areBoth(x, y) => Some(GeometricMean)
          case _ => None
        }
      // nullif(size, 0)
      case If(EqualTo(tested, Constant(0.0)), Literal(null, _), size)
          if areSame(plain(tested), plain(size)) =>
        whole(size, shared)
      case sum @ (_: Add | _: Subtract) =>
        val (plus, minus) = terms(sum)
        plus match {
          case Seq(one, other) if areBoth(one, other) =>
            if (minus.isEmpty) Some(Sum)
            else if (minus.size == 1 && isSize(minus.head, shared)) Some(Union)
            else None
          case _ => None
        }
      case _ => None
    }
  }

  /** The terms that are added, and those subtracted. */
  private def terms(e: Expression): (Seq[Expression], Seq[Expression]) = plain(e) match {
    case Add(l, r, _) =>
      val ((plusL, minusL), (plusR, minusR)) = (terms(l), terms(r))
      (plusL ++ plusR, minusL ++ minusR)
    case Subtract(l, r, _) =>
      val ((plusL, minusL), (plusR, minusR)) = (terms(l), terms(r))
      (plusL ++ minusR, minusL ++ plusR)
    case other => (Seq(other), Nil)
  }

  private def isSize(e: Expression, of: Expression): Boolean = plain(e) match {
    case Size(ArrayDistinct(array), false) => areSame(array, of)
    case Size(array, false) => areSame(array, of)
    case _ => false
  }

  private def areSame(one: Expression, other: Expression): Boolean = one.semanticEquals(other)
}
