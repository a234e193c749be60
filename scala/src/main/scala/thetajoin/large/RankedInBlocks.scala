package thetajoin.large

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, Window}

import thetajoin.logical.{NumberedRows, RankedJoin}

/**
 * A top-k join with more right rows than may be broadcast. The right rows are cut into blocks, each block gives a
 * left row its first k matches, and the first k of all of these are kept.
 *
 * {{{
 *   l with the first k of r by rank
 *
 *   becomes row_number() OVER (PARTITION BY number ORDER BY rank) <= k
 *     of (l, number) with the first k of each block of r
 * }}}
 *
 * In a LEFT join a left row without a match comes out of each block with nulls. One of these rows is kept if there is
 * no other.
 */
private[thetajoin] object RankedInBlocks {

  /**
   * @param limit the most bytes of right rows that are broadcast
   * @param measured has a side shuffled so that its size becomes known
   */
  def apply(join: RankedJoin, limit: BigInt)(measured: LogicalPlan => LogicalPlan): LogicalPlan = {
    val isPair =
      if (join.joinType == LeftOuter) Some(Alias(Literal.TrueLiteral, "isPair")()) else None
    val left = NumberedRows(join.left)
    val right = isPair.fold(join.right)(flag => Project(join.right.output :+ flag, join.right))
    val ofBlocks = join.copy(left, measured(right), blocksAbove = Some(limit))
    val flag = isPair.map(_ => ofBlocks.output.last)
    val isPaired = flag.fold[Expression](Literal.TrueLiteral)(IsNotNull(_))

    val rank = Alias(If(isPaired, join.rank.child, Literal(null, join.rank.dataType)), "rank")()
    val byRank = join.rank.copy(child = rank.toAttribute, sameOrderExpressions = Nil)
    val order = flag.map(SortOrder(_, Descending)).toSeq :+ byRank
    val frame = SpecifiedWindowFrame(RowFrame, UnboundedPreceding, CurrentRow)
    val window = WindowSpecDefinition(Seq(left.number), order, frame)
    val place = Alias(WindowExpression(RowNumber(), window), "place")()
    val ranked = Project(ofBlocks.output :+ rank, ofBlocks)
    val placed = Window(Seq(place), Seq(left.number), order, ranked)
    // As one test: of a comparison Spark would make a limit below the window, which sorts all rows once more and
    // leaves none out.
    val isFirst = If(
      isPaired,
      LessThanOrEqual(place.toAttribute, Literal(join.k)),
      EqualTo(place.toAttribute, Literal(1))
    )
    Project(join.output, Filter(isFirst, placed))
  }
}
