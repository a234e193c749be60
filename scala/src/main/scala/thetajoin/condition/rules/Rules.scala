package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions.{And, Expression, Or}

import thetajoin.Services
import thetajoin.condition.Operator

/**
 * All rules: the built-in ones, then rules that other jars register as Java services of [[Rule]]. Each is asked in this
 * order, and the first one that knows an expression answers.
 */
object Rules {
  private val services = new Services(classOf[Rule])

  val builtIn: Seq[Rule] = Seq(
    Extremes,
    Choices,
    Sums,
    Units,
    Rounded,
    Shifted,
    Magnitude,
    FirstFields,
    AnyOfList,
    OwnValue,
    NullSafe,
    OrFalse,
    Branches,
    Flags,
    ElementFound,
    EntryFound,
    ListFound,
    SequenceFound,
    ElementWith,
    ElementBounds,
    KeyFound,
    SharedBits,
    PatternFound,
    StringFound,
    ChosenKey
  )

  private val (values, comparisons, conditions, forms) = (
    new OfKind({ case r: ValueRule => r }),
    new OfKind({ case r: ComparisonRule => r }),
    new OfKind({ case r: ConditionRule => r }),
    new OfKind({ case r: FormRule => r })
  )

  private final class OfKind[A](kind: PartialFunction[Rule, A]) {
    private val ours = builtIn.collect(kind)
    def iterator: Iterator[A] = ours.iterator ++ services.all.iterator.collect(kind)
  }

  /** What a comparison implies, if a rule knows its values. */
  def implied(l: Expression, operator: Operator, r: Expression): Option[Expression] = {
    val (lower, strict, upper) =
      if (operator.isBelow) (l, operator, r) else (r, operator.flipped, l)
    comparisons.iterator.flatMap(_.implied(lower, strict, upper)).nextOption()
  }

  /**
   * A condition with each of its parts, joined by AND and OR, in the form that rules give it. A form that a part
   * implies is put ahead of it.
   *
   * @param isDone whether a part has the form that is wanted, as an equality of the two sides
   */
  def rewritten(
      condition: Expression,
      isDone: Expression => Boolean = _ => false
  ): Expression = condition match {
    case _ if isDone(condition) => condition
    case And(implied, other) if form(other).exists(_.semanticEquals(implied)) => condition
    case And(l, r) => And(rewritten(l, isDone), rewritten(r, isDone))
    case Or(l, r) if NullSafe.rewritten(condition).isEmpty =>
      Or(rewritten(l, isDone), rewritten(r, isDone))
    case other =>
      conditions.iterator.flatMap(_.rewritten(other)).nextOption()
        .map(rewritten(_, isDone))
        .getOrElse(form(other).fold(other)(And(_, other)))
  }

  private def form(condition: Expression): Option[Expression] =
    forms.iterator.flatMap(_.implied(condition)).nextOption()

  /** What bounds a value from one end: the value itself, if no rule knows more. */
  def bounds(e: Expression, end: End): Seq[Bounding] =
    values.iterator.flatMap(_.bounds(e, end, bounds)).nextOption().filter(_.size <= Most)
      .getOrElse(Seq(Bounding(e)))

  /** Of more bounds none is likely to be of use. */
  private val Most = 32
}
