package thetajoin.recognise

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{FILTER, OUTER_JOIN}

import thetajoin.Settings
import thetajoin.condition.{ConditionAnalysis, OrderedBy}
import thetajoin.logical.OrAsItIs

/**
 * Rows without a match that are found by a null in a column of the other side, as an anti join, which stops at a row's
 * first match:
 *
 * {{{
 *   a LEFT JOIN b ON <condition> WHERE b.id IS NULL      becomes      a LEFT ANTI JOIN b ON <condition>
 * }}}
 *
 * The column is never null in a row with a match: its table has no null there, or the condition compares it. A join of
 * two streams stays as it is.
 */
object AntiOfOuter extends Rule[LogicalPlan] with OrAsItIs {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!Settings.Enabled.in(conf)) plan
    else plan.transformWithPruning(_.containsAllPatterns(FILTER, OUTER_JOIN)) {
      case filter @ Filter(condition, join: Join) if !join.children.forall(_.isStreaming) =>
        orAsItIs("a join whose matches are filtered out")(anti(condition, join)).getOrElse(filter)
    }

  private def anti(condition: Expression, join: Join): Option[LogicalPlan] = {
    val sides = join.joinType match {
      case LeftOuter => Some((join.left, join.right, join.hint))
      case RightOuter =>
        Some((join.right, join.left, JoinHint(join.hint.rightHint, join.hint.leftHint)))
      case _ => None
    }
    sides.flatMap { case (kept, other, hint) =>
      val known = AttributeSet(other.output.filterNot(_.nullable)) ++ compared(join, other)
      val (absent, rest) = ConditionAnalysis.conjuncts(condition).partition {
        case IsNull(a: Attribute) => known.contains(a)
        case _ => false
      }
      val isMoved =
        join.condition.forall(c => c.deterministic && !c.exists(_.isInstanceOf[PythonUDF]))
      if (absent.isEmpty || !isMoved) None
      else {
        val found = Join(kept, other, LeftAnti, join.condition, hint)
        val columns = join.output.map { a =>
          if (kept.outputSet.contains(a)) a
          else Alias(Literal(null, a.dataType), a.name)(a.exprId, a.qualifier)
        }
        val rows = Project(columns, found)
        Some(rest.reduceOption(And(_, _)).fold[LogicalPlan](rows)(Filter(_, rows)))
      }
    }
  }

  /** The columns that the join's condition compares. */
  private def compared(join: Join, other: LogicalPlan): AttributeSet =
    AttributeSet(join.condition.toSeq.flatMap(ConditionAnalysis.conjuncts).flatMap {
      case EqualTo(l, r) => Seq(l, r)
      case OrderedBy(l, _, r) => Seq(l, r)
      case _ => Nil
    }.collect { case a: Attribute if other.outputSet.contains(a) => a })
}
