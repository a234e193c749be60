package thetajoin.large

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils.getSizePerRow
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{ArrayType, LongType}

import thetajoin.Yardsticks
import thetajoin.condition.{Comparison, ConditionAnalysis, OrderedLong, Safety}
import thetajoin.kit.Bound
import thetajoin.planner.Sizes

/**
 * Gives a join of two large sides without an equality key one: the range that a row's values are in. Ranges cut both
 * sides into parts of about equal numbers of rows. Rows of one range are then shuffled to one partition, as Spark
 * arranges it for any equality key. Rows with values in several ranges are few, unless intervals are long: they are
 * broadcast.
 *
 * {{{
 *   p JOIN i ON p.t BETWEEN i.lo AND i.hi
 *
 *   becomes, with the rows of i within one range,
 *     p JOIN i ON range_of(p.t) = range_of(i.lo, i.hi) AND p.t BETWEEN i.lo AND i.hi
 *   UNION ALL, with the others, which are broadcast,
 *     p JOIN i ON p.t BETWEEN i.lo AND i.hi
 * }}}
 *
 * A row of a preserved side must meet all rows that it may match: [[ByRange]] tells how for each join type. Sides are
 * read several times.
 */
private[thetajoin] object JoinByRanges {

  /** @param isFit whether the join is one to rewrite at all */
  def apply(join: Join, conf: SQLConf)(isFit: => Boolean): Option[ByRange] =
    meeting(join).filter(_ => isFit).map(byRange(join, _, conf))

  /** Two comparisons: of a pair that matches, the values of each row have a range in common. */
  private final case class Meeting(lower: Comparison, upper: Comparison) {
    val left: Seq[Expression] = values(lower.left, upper.left)
    val right: Seq[Expression] = values(lower.right, upper.right)

    def hasPoints: Boolean = left.size == 1 || right.size == 1

    private def values(one: Expression, other: Expression): Seq[Expression] =
      (if (one.semanticEquals(other)) Seq(one) else Seq(one, other)).map(OrderedLong.of)
  }

  /** If there is no equal key. Existence joins without points and locality would cost more than they do now. */
  private def meeting(join: Join): Option[Meeting] = {
    val shape =
      ConditionAnalysis.shape(join.left.output, join.right.output, join.condition)
    val isExistence = join.joinType match {
      case LeftExistence(_) => true
      case _ => false
    }
    if (shape.equiKeys.nonEmpty) None
    else {
      val found = meetings(shape.comparisons)
      found.find(_.hasPoints).orElse(if (isExistence) None else found.headOption)
    }
  }

  private def meetings(comparisons: Seq[Comparison]): Seq[Meeting] = {
    val compared = comparisons.filter(c => Bound.areNumbers(c.left, c.right))
    val (lower, upper) = compared.partition(_.operator.isBelow)
    for {
      below <- lower
      above <- upper
      if below.left.dataType == above.left.dataType
    } yield Meeting(below, above)
  }

  private def byRange(join: Join, meeting: Meeting, conf: SQLConf): ByRange = {
    val bounds = AttributeReference("bounds", ArrayType(LongType, containsNull = false), false)()
    val subquery = ScalarSubquery(RangeBounds(
      read(join.left, meeting.left),
      read(join.right, meeting.right),
      meeting.left,
      meeting.right,
      bounds,
      new SharedBounds(
        conf.numShufflePartitions * Yardsticks.RangesPerPartition(),
        mostCrossing(join, conf)
      )
    ))
    val (leftCrosses, rightCrosses) = withoutBounds(join, meeting)
    def side(rows: LogicalPlan, values: Seq[Expression], crosses: Boolean) =
      Side(
        rows,
        Alias(RangeOf(values, subquery, crosses), "range")(),
        hasSeveral = values.size > 1 || !values.forall(Safety.cannotFail)
      )
    ByRange(
      join,
      side(join.left, meeting.left, leftCrosses),
      side(join.right, meeting.right, rightCrosses)
    )
  }

  /** Which side is broadcast if there are no bounds: the one of intervals, or the smaller if both are. */
  private def withoutBounds(join: Join, meeting: Meeting): (Boolean, Boolean) = {
    val isLeft = meeting.right.size == 1 ||
      meeting.left.size > 1 && join.left.stats.sizeInBytes < join.right.stats.sizeInBytes
    (isLeft, !isLeft)
  }

  private def read(side: LogicalPlan, values: Seq[Expression]): LogicalPlan =
    Project(values.flatMap(_.references.toSeq).distinct, side)

  private def mostCrossing(join: Join, conf: SQLConf): Long = {
    val rowBytes = join.children.map(side => getSizePerRow(side.output)).max
    (Sizes.limitBesideShuffle(conf) / rowBytes).toLong
  }
}
