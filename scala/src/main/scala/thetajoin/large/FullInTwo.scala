package thetajoin.large

import org.apache.spark.sql.catalyst.expressions.{Alias, Literal}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.{JoinType, LeftAnti, LeftOuter}

/** A full outer join as two: all left rows with their matches, and the right rows without one. */
private[thetajoin] object FullInTwo {

  /** @param planned the plan of each of them */
  def apply(join: Join)(planned: Join => Option[LogicalPlan]): Option[LogicalPlan] =
    for {
      leftOuter <- planned(join.copy(joinType = LeftOuter))
      unmatched <- planned(flipped(join, LeftAnti))
    } yield of(join, leftOuter, unmatched)

  /** @param unmatched the right rows */
  def of(join: Join, leftOuter: LogicalPlan, unmatched: LogicalPlan): LogicalPlan = {
    val nulls = join.left.output.map(a => Alias(Literal(null, a.dataType), a.name)())
    Union(Seq(leftOuter, Project(nulls ++ join.right.output, unmatched)))
  }

  /** The same pairs, with the sides exchanged. */
  def flipped(join: Join, joinType: JoinType): Join = {
    val hint = JoinHint(join.hint.rightHint, join.hint.leftHint)
    Join(join.right, join.left, joinType, join.condition, hint)
  }
}
