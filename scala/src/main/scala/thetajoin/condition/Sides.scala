package thetajoin.condition

import org.apache.spark.sql.catalyst.expressions._

/** Which side of the join an expression reads. One that reads no column belongs to neither. */
final class Sides(left: AttributeSet, right: AttributeSet) {
  def ofLeft(e: Expression): Boolean = e.references.nonEmpty && e.references.subsetOf(left)
  def ofRight(e: Expression): Boolean = e.references.nonEmpty && e.references.subsetOf(right)
  def ofOne(e: Expression): Boolean = ofLeft(e) || ofRight(e)
  def split(l: Expression, r: Expression): Boolean =
    ofLeft(l) && ofRight(r) || ofRight(l) && ofLeft(r)
}

/** Matches the comparison of a column in NOT IN: `l = r`, or a null on either side. */
object NullAwareEquality {
  def unapply(e: Expression): Option[(Expression, Expression)] = e match {
    case Or(equal @ EqualTo(l, r), IsNull(other)) if equal.semanticEquals(other) => Some((l, r))
    case _ => None
  }
}

/** The condition that another one is false or null. */
object IsNotTrue {
  def apply(condition: Expression): Expression =
    Not(Coalesce(Seq(condition, Literal.FalseLiteral)))
}

/** Matches the four order comparisons. */
object OrderedBy {
  def unapply(e: Expression): Option[(Expression, Operator, Expression)] = e match {
    case LessThan(l, r) => Some((l, Operator.Less, r))
    case LessThanOrEqual(l, r) => Some((l, Operator.LessOrEqual, r))
    case GreaterThan(l, r) => Some((l, Operator.Greater, r))
    case GreaterThanOrEqual(l, r) => Some((l, Operator.GreaterOrEqual, r))
    case _ => None
  }
}
