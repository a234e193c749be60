package thetajoin.ranges

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, Window}

import thetajoin.planner.{NumberedRows, RankedJoin}

/**
 * A join with the first matches of a left row among more right rows than may be broadcast: these are cut into blocks, each block gives a left row its first
 * matches, and of all of these the first are taken.
 *
 * {{{
 *   l with the first k of r by rank
 *
 *   becomes row_number() OVER (PARTITION BY number ORDER BY rank) <= k of (l, number) with the first k of each block of r
 * }}}
 *
 * A left row without a match comes out of each block with nulls, and of these rows one is kept if there is no other.
 */
private[ranges] object RankedInBlocks {

  def apply(join: RankedJoin): LogicalPlan = {
    val left = NumberedRows(join.left)
    val isPair = Alias(Literal.TrueLiteral, "isPair")()
    val right = Project(join.right.output :+ isPair, join.right)
    val ofBlocks = join.copy(left, right, isInBlocks = true)
    val paired = IsNotNull(ofBlocks.output.last)
    val rank = Alias(If(paired, join.rank.child, Literal(null, join.rank.dataType)), "rank")()
    val order = Seq(
      SortOrder(isPair.toAttribute, Descending),
      join.rank.copy(child = rank.toAttribute, sameOrderExpressions = Nil)
    )
    val place = Alias(
      WindowExpression(
        RowNumber(),
        WindowSpecDefinition(
          Seq(left.number),
          order,
          SpecifiedWindowFrame(RowFrame, UnboundedPreceding, CurrentRow)
        )
      ),
      "place"
    )()
    val placed =
      Window(Seq(place), Seq(left.number), order, Project(ofBlocks.output :+ rank, ofBlocks))
    val isFirst = LessThanOrEqual(place.toAttribute, Literal(join.k))
    val counts = Or(paired, EqualTo(place.toAttribute, Literal(1)))
    Project(join.output, Filter(And(isFirst, counts), placed))
  }
}
