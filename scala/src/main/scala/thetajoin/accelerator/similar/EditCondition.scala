package thetajoin.accelerator.similar

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import thetajoin.condition.NumberForms.{Constant, RoundedQuotient, Times, plain}
import thetajoin.condition.{Operator, OrderedBy, Sides}

/**
 * A conjunct that limits the edits between a text of one side and a text of the other.
 *
 * @param most the limit, unless it is `column`
 * @param column an expression of one side, if the limit is a column
 * @param exact whether the conjunct holds for each pair within the limit
 */
private[similar] final case class EditCondition(
    source: Expression,
    left: Expression,
    right: Expression,
    most: MostEdits,
    column: Option[Expression],
    exact: Boolean
)

/**
 * The forms in which a limit is written:
 *
 * {{{
 *   levenshtein(a, b) <= 2          levenshtein(a, b) < b.k         levenshtein(a, b, 2) >= 0
 *   levenshtein(a, b) / greatest(length(a), length(b)) <= 0.2      levenshtein(a, b, 2) <> -1
 *   1 - levenshtein(a, b) / greatest(length(a), length(b)) >= 0.8
 *   levenshtein(a, b) <= 0.2 * greatest(length(a), length(b))
 * }}}
 */
private[similar] object EditCondition {
  def of(conjunct: Expression, sides: Sides): Option[EditCondition] =
    new Reader(conjunct, sides).condition.filter(c => sides.split(c.left, c.right))

  private final class Reader(source: Expression, sides: Sides) {
    def condition: Option[EditCondition] = source match {
      case OrderedBy(l, operator, r) =>
        if (operator.isBelow) below(l, r, operator == Operator.Less)
        else below(r, l, operator == Operator.Greater)
      case Not(EqualTo(l: Levenshtein, Whole(-1L))) => limited(l)
      case Not(EqualTo(Whole(-1L), r: Levenshtein)) => limited(r)
      case EqualTo(l: Levenshtein, Whole(edits)) if edits >= 0 => equal(l, edits)
      case EqualTo(Whole(edits), r: Levenshtein) if edits >= 0 => equal(r, edits)
      case _ => None
    }

    private def equal(l: Levenshtein, edits: Long): Option[EditCondition] =
      constant(l, edits.toDouble).map(_.copy(exact = false))

    /** `less <= more`, or `less < more`. */
    private def below(less: Expression, more: Expression, isStrict: Boolean) =
      (plain(less), plain(more)) match {
        // A distance above the limit is -1.
        case (Whole(number), l: Levenshtein)
            if l.threshold.isDefined && (number >= 0 || number == -1L && isStrict) =>
          limited(l).map(c => c.copy(exact = c.exact && number == (if (isStrict) -1L else 0L)))
        case (l: Levenshtein, Constant(most)) if l.threshold.isEmpty =>
          constant(l, if (isStrict) math.ceil(most) - 1 else math.floor(most))
        case (l: Levenshtein, Times(part, length)) if l.threshold.isEmpty =>
          ofLength(l, part, length)
        case (l: Levenshtein, column) if l.threshold.isEmpty && sides.ofOne(column) =>
          ofColumn(l, column, isStrict)
        case (Ratio(l, length), Constant(part)) => ofLength(l, part + RoundedQuotient, length)
        case (Constant(least), difference: Subtract) =>
          (plain(difference.left), plain(difference.right)) match {
            case (Constant(one), Ratio(l, length)) =>
              ofLength(l, one - least + RoundedQuotient, length)
            case _ => None
          }
        case _ => None
      }

    /** With a limit of its own, and within it. */
    private def limited(l: Levenshtein): Option[EditCondition] = l.threshold.flatMap {
      case Whole(edits) if edits >= 0 => constant(l, edits.toDouble)
      case column if sides.ofOne(column) => ofColumn(l, column, isStrict = false)
      case _ => None
    }

    private def constant(l: Levenshtein, most: Double): Option[EditCondition] =
      if (most > EditCondition.Most) None
      else
        Some(EditCondition(
          source,
          l.left,
          l.right,
          MostEdits.Constant(math.max(most, -1.0).toInt),
          column = None,
          exact = true
        ))

    private def ofColumn(l: Levenshtein, column: Expression, isStrict: Boolean) =
      column.dataType match {
        case IntegerType | ShortType | ByteType =>
          Some(EditCondition(
            source,
            l.left,
            l.right,
            MostEdits.OfRow,
            Some(Cast(column, IntegerType, None, EvalMode.LEGACY)),
            exact = !isStrict
          ))
        case _ => None
      }

    private def ofLength(l: Levenshtein, part: Double, length: Expression) =
      lengths(length, l).map(part * _).filter(p => p >= 0.0 && p < 1.0).map(p =>
        EditCondition(source, l.left, l.right, MostEdits.OfLength(p), column = None, exact = false)
      )

    /** How many times the length of the longer text this is at most. */
    private def lengths(e: Expression, of: Levenshtein): Option[Double] = plain(e) match {
      case Length(text) if text.semanticEquals(of.left) || text.semanticEquals(of.right) =>
        Some(1.0)
      case Greatest(parts) =>
        largest(
          parts.filterNot { part =>
            plain(part) match {
              // A part of one character is no edit.
              case Constant(atLeast) => atLeast <= 1.0
              case _ => false
            }
          },
          of
        )
      case Least(parts) => largest(parts, of)
      // nullif(length, 0)
      case If(_, Literal(null, _), length) => lengths(length, of)
      case sum: Add => for (l <- lengths(sum.left, of); r <- lengths(sum.right, of)) yield l + r
      case _ => None
    }

    private def largest(parts: Seq[Expression], of: Levenshtein): Option[Double] = {
      val times = parts.map(lengths(_, of))
      if (times.nonEmpty && times.forall(_.isDefined)) Some(times.flatten.max) else None
    }
  }

  /** Beyond so many edits texts have nothing in common. */
  private val Most = 1000.0

  private object Ratio {
    def unapply(e: Expression): Option[(Levenshtein, Expression)] = e match {
      case d: Divide =>
        plain(d.left) match {
          case l: Levenshtein if l.threshold.isEmpty => Some((l, d.right))
          case _ => None
        }
      case _ => None
    }
  }

  private object Whole {
    def unapply(e: Expression): Option[Long] = e match {
      case Literal(value: Int, IntegerType) => Some(value.toLong)
      case _ => None
    }
  }
}
