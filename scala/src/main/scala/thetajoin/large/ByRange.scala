package thetajoin.large

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, BuildSide}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.BooleanType

import thetajoin.planner.Planner

/**
 * A side of a join.
 *
 * @param range of a row, by [[RangeOf]]
 * @param hasSeveral whether a row may have values in several ranges
 */
private[thetajoin] final case class Side(
    rows: LogicalPlan,
    range: Alias,
    hasSeveral: Boolean
) {
  def key: Attribute = range.toAttribute

  /** The rows within one range or with none, each with its [[key]]. */
  def within: LogicalPlan = if (hasSeveral) Filter(Not(isCrossing), ranged) else ranged

  /** The others. */
  def crossing: LogicalPlan = Project(rows.output, Filter(isCrossing, ranged))

  private def ranged: LogicalPlan = Project(rows.output :+ range, rows)
  private def isCrossing: Expression = EqualNullSafe(key, Literal(RangeOf.Several))
}

/**
 * A join as joins of rows within a range, which are shuffled, and of rows that cross ranges, which are broadcast. A
 * left row within a range meets the right rows of its range and the right rows that cross ranges; a left row that
 * crosses ranges meets all right rows. Whether a left row has a match is known once it has met both kinds.
 */
private[thetajoin] final case class ByRange(join: Join, left: Side, right: Side) {

  def joined: LogicalPlan = join.joinType match {
    case RightOuter => Project(join.output, flipped(LeftOuter).joined)
    case FullOuter =>
      val leftOuter = copy(join = join.copy(joinType = LeftOuter)).joined
      FullInTwo.of(join, leftOuter, unmatched = flipped(LeftAnti).joined)
    case joinType =>
      val parts = ofLeftWithin(joinType) ++
        (if (left.hasSeveral) Seq(ofLeftCrossing(joinType)) else Nil)
      if (parts.size == 1) parts.head else Union(parts)
  }

  /** Whether rows within a range are joined by an index. */
  def isServed(conf: SQLConf): Boolean = {
    val joinType = if (join.joinType == FullOuter) LeftOuter else join.joinType
    Planner.choose(byRange(left.within, right.within, joinType), conf).chosen.isDefined
  }

  private def ofLeftWithin(joinType: JoinType): Seq[LogicalPlan] = joinType match {
    case LeftOuter if right.hasSeveral =>
      val crossing = newFlag
      val flagged = broadcast(left.within, right.crossing, ExistenceJoin(crossing), BuildRight)
      val rows = byRange(flagged, right.within, LeftOuter)
      // A pair has the same key twice.
      val isPadded = IsNull(right.key)
      Seq(ordered(Filter(Not(And(isPadded, crossing)), rows)), pairsWithCrossing)
    case _: InnerLike if right.hasSeveral =>
      Seq(ordered(byRange(left.within, right.within, Inner)), pairsWithCrossing)
    case LeftSemi if right.hasSeveral =>
      val (rows, hasMatch) = markedByAll
      Seq(ordered(Filter(hasMatch, rows)))
    case ExistenceJoin(exists) if right.hasSeveral =>
      val (rows, hasMatch) = markedByAll
      val flag = Alias(hasMatch, exists.name)(exists.exprId)
      Seq(Project(join.left.output :+ flag, rows))
    case LeftAnti if right.hasSeveral =>
      val others = broadcast(left.within, right.crossing, LeftAnti, BuildRight)
      Seq(ordered(byRange(others, right.within, LeftAnti)))
    case _ => Seq(ordered(byRange(left.within, right.within, joinType)))
  }

  private def ofLeftCrossing(joinType: JoinType): LogicalPlan =
    ordered(broadcast(left.crossing, join.right, joinType, BuildLeft))

  private def pairsWithCrossing: LogicalPlan =
    ordered(broadcast(left.within, right.crossing, Inner, BuildRight))

  /** Left rows, and the condition that tells whether one has a match. */
  private def markedByAll: (LogicalPlan, Expression) = {
    val byCrossing = newFlag
    val byWithin = newFlag
    val some = broadcast(left.within, right.crossing, ExistenceJoin(byCrossing), BuildRight)
    (byRange(some, right.within, ExistenceJoin(byWithin)), Or(byCrossing, byWithin))
  }

  private def newFlag: Attribute = AttributeReference("exists", BooleanType, nullable = false)()

  private def byRange(left: LogicalPlan, right: LogicalPlan, joinType: JoinType): Join = {
    val sameRange = EqualTo(this.left.key, this.right.key)
    val condition = join.condition.foldLeft[Expression](sameRange)(And(_, _))
    Join(left, right, joinType, Some(condition), join.hint)
  }

  private def broadcast(
      left: LogicalPlan,
      right: LogicalPlan,
      joinType: JoinType,
      side: BuildSide
  ): LogicalPlan = {
    def hinted(hint: Option[HintInfo]) =
      Some(hint.getOrElse(HintInfo()).copy(strategy = Some(BROADCAST)))
    val hint = side match {
      case BuildLeft => join.hint.copy(leftHint = hinted(join.hint.leftHint))
      case BuildRight => join.hint.copy(rightHint = hinted(join.hint.rightHint))
    }
    Join(left, right, joinType, join.condition, hint)
  }

  private def flipped(joinType: JoinType): ByRange =
    ByRange(FullInTwo.flipped(join, joinType), right, left)

  /** The columns of the join alone. */
  private def ordered(rows: LogicalPlan): LogicalPlan = {
    val columns = AttributeMap(rows.output.map(a => a -> a))
    Project(join.output.map(columns), rows)
  }
}
