package thetajoin.logical

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils.getSizePerRow
import org.apache.spark.sql.catalyst.plans.{JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.trees.TreePattern.{JOIN, TreePattern}

/**
 * A join of each left row with the first `k` of its matches, in the order of `rank`: ASOF, and the nearest rows. A
 * pair whose rank is null is no match. Spark has no operator for it that its planner could choose, so ours must be
 * found for every such node.
 *
 * @param joinType Inner, or LeftOuter, which keeps left rows without a match
 * @param isApproximate whether the query would be content with others than the first
 * @param blocksAbove set if right rows are cut into blocks, unless they turn out to have no more bytes than this.
 *   Each block gives a left row its first k matches
 */
final case class RankedJoin(
    left: LogicalPlan,
    right: LogicalPlan,
    joinType: JoinType,
    condition: Option[Expression],
    rank: SortOrder,
    k: Int,
    isApproximate: Boolean = false,
    blocksAbove: Option[BigInt] = None
) extends BinaryNode {
  override def output: Seq[Attribute] = joinType match {
    case LeftOuter => left.output ++ right.output.map(_.withNullability(true))
    case _ => left.output ++ right.output
  }

  final override val nodePatterns: Seq[TreePattern] = Seq(JOIN)

  /** The join of all matches, as Spark's optimizer would have it. */
  def ofAll: Join = SparksKeys(Join(left, right, joinType, condition, JoinHint.NONE))

  override def maxRows: Option[Long] =
    left.maxRows.filter(_ < Int.MaxValue && blocksAbove.isEmpty).map(_ * k)

  /** A row or k for each left row, where Spark knows only a product of all rows. */
  override def stats: Statistics = {
    val ofLeft = left.stats
    Statistics(
      sizeInBytes =
        (ofLeft.sizeInBytes * k * getSizePerRow(output) / getSizePerRow(left.output)).max(1),
      rowCount = ofLeft.rowCount.map(_ * k)
    )
  }

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan
  ): RankedJoin = copy(left = newLeft, right = newRight)
}
