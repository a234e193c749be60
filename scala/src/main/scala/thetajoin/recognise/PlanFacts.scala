package thetajoin.recognise

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.plans.logical._

import thetajoin.condition.{ConditionAnalysis, OrderedBy}

/** What plans and expressions tell before Spark has optimized them. */
private[recognise] object PlanFacts {
  def readsOuter(plan: LogicalPlan): Boolean =
    plan.exists(_.expressions.exists(_.exists(_.isInstanceOf[OuterReference])))

  def isEquality(e: Expression): Boolean =
    e.isInstanceOf[EqualTo] || e.isInstanceOf[EqualNullSafe]

  /** The columns of a plan under ids of their own, which differ from the ids of its parts. */
  def renamed(plan: LogicalPlan): LogicalPlan =
    Project(plan.output.map(a => Alias(a, a.name)()), plan)

  /** An expression in which those expressions are replaced that Spark's optimizer would replace, such as BETWEEN. */
  def replaced(e: Expression): Expression = e match {
    case r: RuntimeReplaceable => replaced(r.replacement)
    case w: With =>
      val values = w.defs.map(d => d.id -> d.child).toMap
      replaced(w.child.transform { case r: CommonExpressionRef => values.getOrElse(r.id, r) })
    case other => other.mapChildren(replaced)
  }

  /** Whether a pair that passes these conditions has no null here. */
  def isNeverNull(e: Expression, conditions: Seq[Expression]): Boolean = {
    val known = conditions.map(replaced).flatMap(ConditionAnalysis.conjuncts).flatMap {
      case OrderedBy(l, _, r) => Seq(l, r)
      case EqualTo(l, r) => Seq(l, r)
      case IsNotNull(child) => Seq(child)
      case _ => Nil
    }
    val columns = AttributeSet(known.flatMap(notNull))
    // Other expressions may be null even if none of the columns they read is, as a quotient.
    val filled = replaced(e).transformDown {
      case a: Attribute => a.withNullability(a.nullable && !columns.contains(a))
      case other if known.exists(_.semanticEquals(other)) =>
        AttributeReference("known", other.dataType, nullable = false)()
    }
    !filled.nullable
  }

  /** The columns that are not null if the expression is not. */
  def notNull(e: Expression): Seq[Attribute] = e match {
    case a: Attribute => Seq(a)
    case Alias(child, _) => notNull(child)
    case r: RuntimeReplaceable => notNull(r.replacement)
    case a: ArrayAggregate => notNull(a.argument)
    case z: ZipWith => Seq(z.left, z.right).flatMap(notNull)
    case Size(array, false) => notNull(array)
    case i: StaticInvoke if i.propagateNull => i.arguments.flatMap(notNull)
    case other if other.nullIntolerant => other.children.flatMap(notNull)
    case _ => Nil
  }
}
