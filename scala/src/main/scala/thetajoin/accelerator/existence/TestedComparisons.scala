package thetajoin.accelerator.existence

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.BuildSide

import thetajoin.condition.{Comparison, Conjunct, OrderedLong, Unequal}
import thetajoin.contract.{Cost, Offer}
import thetajoin.kit.Bound

/** Comparisons that an index answers where only existence is asked, see [[TestedSpec]]. */
private[accelerator] final case class TestedComparisons(
    sources: Seq[Expression],
    build: Seq[Expression],
    probe: Seq[Expression],
    spec: TestedSpec
) {

  /** An offer that serves them together with the keys of another. */
  def beside(keys: Offer): Offer = keys.copy(
    served = keys.served ++ sources,
    exact = keys.exact ++ sources,
    buildKeys = keys.buildKeys ++ build,
    probeKeys = keys.probeKeys ++ probe,
    spec = spec
  )
}

private[accelerator] object TestedComparisons {

  /** A probe row is answered by one comparison. */
  val cost: Cost = Cost(share = 0.0, perProbe = 30, perBuildRow = 150)

  /**
   * None unless each of the conjuncts can be answered.
   *
   * @param isOfKeys whether there are equality keys too
   */
  def apply(
      conjuncts: Seq[Conjunct],
      buildSide: BuildSide,
      isOfKeys: Boolean
  ): Option[TestedComparisons] =
    conjuncts match {
      case Seq(u: Unequal) if Bound.areNumbers(u.left, u.right) =>
        val (build, probe) = u.oriented(buildSide)
        Some(TestedComparisons(
          Seq(u.source),
          Seq(OrderedLong(build)),
          Seq(OrderedLong(probe)),
          UnequalSpec
        ))
      case Seq(_: Comparison) | Seq(_: Comparison, _: Comparison) =>
        val bounds = conjuncts.collect { case c: Comparison if c.exact => c }
          .flatMap(Bound.of(_, buildSide))
        if (bounds.size < conjuncts.size) None
        else {
          val (build, probe) = bounds.map(_.ascending).unzip
          val isSieved = bounds.size == 1 || !isOfKeys && !isPointInInterval(conjuncts)
          val spec = AtLeastSpec(bounds.map(_.strict), isSieved)
          Some(TestedComparisons(bounds.map(_.source), build, probe, spec))
        }
      case _ => None
    }

  /** There hardly a row is at least as good as another in both values. */
  private def isPointInInterval(conjuncts: Seq[Conjunct]): Boolean = conjuncts match {
    case Seq(one: Comparison, other: Comparison) =>
      one.operator.isBelow != other.operator.isBelow &&
      (one.left.semanticEquals(other.left) || one.right.semanticEquals(other.right))
    case _ => false
  }
}
