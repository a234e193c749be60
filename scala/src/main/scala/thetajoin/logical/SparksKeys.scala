package thetajoin.logical

import org.apache.spark.sql.catalyst.analysis.RewriteCollationJoin
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinHint, LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import thetajoin.condition.{ConditionAnalysis, Sides}

/**
 * Gives the equality keys of a join the form in which Spark's hash joins and shuffles compare them by their bytes.
 * Spark's optimizer does so for its own joins. It does not know a [[RankedJoin]], whose keys would stay collated
 * strings, and would be compared by bytes that differ where the strings are equal.
 */
private[thetajoin] object SparksKeys {

  /** Of Spark's rules for a join's condition the two that a result depends on. All others make plans quicker. */
  private val rules: Seq[Rule[LogicalPlan]] = Seq(RewriteCollationJoin, NormalizeFloatingNumbers)

  def apply(join: Join): Join = {
    val sides = new Sides(join.left.outputSet, join.right.outputSet)
    val conjuncts = join.condition.toSeq.flatMap(ConditionAnalysis.conjuncts).map {
      case key @ Equality(l, r) if sides.split(l, r) => rewritten(key, l, r)
      case other => other
    }
    join.copy(condition = conjuncts.reduceOption(And(_, _)))
  }

  /**
   * Spark rewrites keys that are columns, and leaves other expressions to joins that sort: so the rules are shown
   * columns in place of both.
   */
  private def rewritten(key: Expression, l: Expression, r: Expression): Expression = {
    val (left, right) = (column(l), column(r))
    val ofColumns = key.withNewChildren(Seq(left, right))
    val values = AttributeMap(Seq(left -> l, right -> r))
    val join =
      Join(LocalRelation(left), LocalRelation(right), Inner, Some(ofColumns), JoinHint.NONE)
    rules.foldLeft[LogicalPlan](join)((plan, rule) => rule(plan)).expressions.head.transform {
      case a: Attribute => values.getOrElse(a, a)
    }
  }

  private def column(e: Expression): Attribute =
    AttributeReference("key", e.dataType, e.nullable)()
}
