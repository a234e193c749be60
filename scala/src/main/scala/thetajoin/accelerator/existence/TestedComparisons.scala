package thetajoin.accelerator.existence

import org.apache.spark.sql.catalyst.expressions.{BitwiseNot, Expression}
import org.apache.spark.sql.catalyst.optimizer.BuildSide
import org.apache.spark.sql.catalyst.types.DataTypeUtils

import thetajoin.accelerator.Offer
import thetajoin.condition._

/** Comparisons that an index answers where only existence is asked, see [[TestedSpec]]. */
private[accelerator] final case class TestedComparisons(
    sources: Seq[Expression],
    build: Seq[Expression],
    probe: Seq[Expression],
    spec: TestedSpec
) {

  /** An offer that serves them beside the keys of another. */
  def beside(keys: Offer): Offer = keys.copy(
    served = keys.served ++ sources,
    exact = keys.exact ++ sources,
    buildKeys = keys.buildKeys ++ build,
    probeKeys = keys.probeKeys ++ probe,
    spec = spec
  )
}

private[accelerator] object TestedComparisons {

  /** None unless each of the conjuncts can be answered. */
  def apply(conjuncts: Seq[Conjunct], buildSide: BuildSide): Option[TestedComparisons] =
    conjuncts match {
      case Seq(u: Unequal) if ordered(u.left, u.right) =>
        val (build, probe) = u.oriented(buildSide)
        Some(TestedComparisons(
          Seq(u.source),
          Seq(OrderedLong(build)),
          Seq(OrderedLong(probe)),
          UnequalSpec
        ))
      case Seq(_: Comparison) | Seq(_: Comparison, _: Comparison) =>
        val comparisons = conjuncts.collect {
          case c: Comparison if c.exact && ordered(c.left, c.right) => c
        }
        if (comparisons.size < conjuncts.size) None
        else Some(ascending(comparisons, buildSide))
      case _ => None
    }

  /** Each comparison as one by which the build value must be above. */
  private def ascending(comparisons: Seq[Comparison], buildSide: BuildSide): TestedComparisons = {
    val (build, probe, strict) = comparisons.map { c =>
      val (build, operator, probe) = c.oriented(buildSide)
      val (b, p) = (OrderedLong(build), OrderedLong(probe))
      operator match {
        case Operator.Greater => (b, p, true)
        case Operator.GreaterOrEqual => (b, p, false)
        case Operator.Less => (BitwiseNot(b), BitwiseNot(p), true)
        case Operator.LessOrEqual => (BitwiseNot(b), BitwiseNot(p), false)
      }
    }.unzip3
    TestedComparisons(comparisons.map(_.source), build, probe, AtLeastSpec(strict))
  }

  private def ordered(l: Expression, r: Expression): Boolean =
    DataTypeUtils.sameType(l.dataType, r.dataType) && OrderedLong.orders(l.dataType)
}
