package thetajoin.condition

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight}

/**
 * Takes a join condition apart. For `ON a.x + 1 > b.y AND a.s <> b.s AND a.z > 0`:
 * a comparison of `a.x + 1` with `b.y`, an opaque conjunct, and a conjunct of the left side.
 */
object ConditionAnalysis {

  def shape(
      left: Seq[Attribute],
      right: Seq[Attribute],
      condition: Option[Expression]
  ): JoinShape = {
    val sides = new Sides(AttributeSet(left), AttributeSet(right))
    val sources = condition.toSeq.flatMap(conjuncts)
    val notNull = sources.flatMap(compared).map(canonical).toSet
    val isNotNull = (e: Expression) => notNull.contains(canonical(e))
    JoinShape(left, right, sources.map(conjunct(_, sides, isNotNull)))
  }

  /** The values that are not null if a conjunct is true. */
  private def compared(conjunct: Expression): Seq[Expression] = conjunct match {
    case OrderedBy(l, _, r) => Seq(l, r)
    case EqualTo(l, r) => Seq(l, r)
    case _ => Nil
  }

  /** The same for a value and its number. */
  private def canonical(e: Expression): Expression = OrderedLong.of(e).child.canonicalized

  /** The parts that an AND joins, in its order, but for `true`. */
  private[thetajoin] def conjuncts(condition: Expression): Seq[Expression] = {
    val found = Seq.newBuilder[Expression]
    def add(e: Expression): Unit = e match {
      case And(l, r) =>
        add(l)
        add(r)
      case Literal.TrueLiteral =>
      case other => found += other
    }
    add(condition)
    found.result()
  }

  private def conjunct(
      source: Expression,
      sides: Sides,
      isNotNull: Expression => Boolean
  ): Conjunct = source match {
    case e if sides.ofLeft(e) => oneSided(e, isLeft = true)
    case e if sides.ofRight(e) => oneSided(e, isLeft = false)
    case EqualTo(l, r) if sides.split(l, r) => equiKey(source, l, r, nullSafe = false, sides)
    case EqualNullSafe(l, r) if sides.split(l, r) => equiKey(source, l, r, nullSafe = true, sides)
    case NullAwareEquality(l, r) if sides.split(l, r) && Safety.cannotFail(source) =>
      if (sides.ofLeft(l)) NullAwareKey(source, l, r) else NullAwareKey(source, r, l)
    case Not(EqualTo(l, r)) if sides.split(l, r) && Safety.cannotFail(source) =>
      if (sides.ofLeft(l)) Unequal(source, l, r) else Unequal(source, r, l)
    case OrderedBy(l, operator, r) =>
      direct(source, l, operator, r, sides)
        .orElse(LinearIsolation.isolate(source, l, operator, r, sides))
        .getOrElse(implied(source, sides, isNotNull))
    case _ => implied(source, sides, isNotNull)
  }

  private def implied(
      source: Expression,
      sides: Sides,
      isNotNull: Expression => Boolean
  ): Conjunct = {
    val implications = new Implications(sides, isNotNull)(isolated(source, _, _, _, sides))
    implications.of(source) match {
      case Nil => Opaque(source)
      case comparisons => Implied(source, comparisons)
    }
  }

  private def isolated(
      source: Expression,
      l: Expression,
      operator: Operator,
      r: Expression,
      sides: Sides
  ): Seq[Comparison] =
    direct(source, l, operator, r, sides)
      .orElse(LinearIsolation.isolate(source, l, operator, r, sides))
      .map(c => Seq(c.copy(equivalent = false, exact = false)))
      .orElse(distance(source, l, operator, r, sides).map(_.comparisons))
      .orElse(ImpliedBounds.of(source, l, operator, r, sides).map(_.comparisons))
      .orElse(AsDoubles.of(l, operator, r, sides).flatMap { case (x, y) =>
        ImpliedBounds.of(source, x, operator, y, sides).map(_.comparisons)
      })
      .getOrElse(Nil)

  private def equiKey(
      source: Expression,
      l: Expression,
      r: Expression,
      nullSafe: Boolean,
      sides: Sides
  ): EquiKey =
    if (sides.ofLeft(l)) EquiKey(source, l, r, nullSafe) else EquiKey(source, r, l, nullSafe)

  private def oneSided(e: Expression, isLeft: Boolean): Conjunct =
    if (Safety.cannotFail(e)) OneSided(e, if (isLeft) BuildLeft else BuildRight) else Opaque(e)

  private def distance(
      source: Expression,
      l: Expression,
      operator: Operator,
      r: Expression,
      sides: Sides
  ): Option[Implied] = (l, operator, r) match {
    case (Abs(difference, _), Operator.Less | Operator.LessOrEqual, most) =>
      for {
        upper <- LinearIsolation.isolate(source, difference, operator, most, sides)
        least = UnaryMinus(most)
        lower <- LinearIsolation.isolate(source, difference, operator.flipped, least, sides)
      } yield Implied(source, Seq(lower, upper))
    case (_, Operator.Greater | Operator.GreaterOrEqual, _: Abs) =>
      distance(source, r, operator.flipped, l, sides)
    case _ => None
  }

  private def direct(
      source: Expression,
      l: Expression,
      operator: Operator,
      r: Expression,
      sides: Sides
  ): Option[Comparison] = {
    val exact = Safety.cannotFail(l) && Safety.cannotFail(r)
    if (sides.ofLeft(l) && sides.ofRight(r))
      Some(Comparison(source, l, operator, r, equivalent = true, exact))
    else if (sides.ofRight(l) && sides.ofLeft(r))
      Some(Comparison(source, r, operator.flipped, l, equivalent = true, exact))
    else None
  }
}
