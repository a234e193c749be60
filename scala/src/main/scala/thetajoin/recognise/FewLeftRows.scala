package thetajoin.recognise

import org.apache.spark.sql.catalyst.analysis.DeduplicateRelations
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{Max, MaxBy, Min, MinBy}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.{Inner, LeftSemi}
import org.apache.spark.sql.internal.SQLConf

import thetajoin.condition.{Comparison, ConditionAnalysis, EquiKey}
import thetajoin.logical.{RankedJoin, Repeatable}
import thetajoin.planner.{Planner, Sizes}

/**
 * A join of few left rows with the row before or after each in a larger table. All rows of the table would have to be
 * moved and indexed. The left rows are moved and indexed instead: each row of the table finds the left row that it
 * comes next to. Of the rows next to the same left row only the nearest can be the match of any left row.
 *
 * {{{
 *   l ASOF JOIN r MATCH_CONDITION (l.t >= r.t) ON l.k = r.k
 *
 *   becomes l ASOF JOIN nearest MATCH_CONDITION (l.t >= nearest.t) ON l.k = nearest.k
 *   nearest SELECT max_by(r.k, r.t) AS k, max_by(r.t, r.t) AS t, ..
 *     FROM r ASOF JOIN l MATCH_CONDITION (r.t <= l.t) ON r.k = l.k GROUP BY l.k, l.t
 * }}}
 *
 * Spark sorts all rows for a `max_by` of text. So for a table with such columns the nearest values are found first,
 * and then the rows that have them:
 *
 * {{{
 *   becomes l ASOF JOIN (r LEFT SEMI JOIN nearest ON r.k = nearest.k AND r.t = nearest.t)
 *     MATCH_CONDITION (l.t >= r.t) ON l.k = r.k
 *   nearest SELECT l.k, max(r.t) AS t FROM r ASOF JOIN l MATCH_CONDITION (r.t <= l.t) ON r.k = l.k GROUP BY l.k, l.t
 * }}}
 */
private[recognise] object FewLeftRows {

  def apply(join: RankedJoin, conf: SQLConf): Option[RankedJoin] = {
    val isOneScan = join.right.output.forall(a => UnsafeRow.isMutable(a.dataType))
    val read = if (isOneScan) Seq(join.left) else Seq(join.left, join.right)
    val isAsked = join.k == 1 && read.forall(Repeatable(_)) &&
      Sizes.areFewBeside(join.left, join.right, readsTwice = !isOneScan, conf)
    if (isAsked) compared(join).flatMap(narrowed(join, _, isOneScan, conf)) else None
  }

  private case class Compared(keys: Seq[EquiKey], bound: Comparison)

  /**
   * The keys and the comparison of the join, if it has nothing but keys and one bound of the value by which right
   * rows are ranked. There may be bounds from the other end too: if the row that comes first does not pass one, no
   * other does.
   */
  private def compared(join: RankedJoin): Option[Compared] = {
    val shape =
      ConditionAnalysis.shape(join.left.output, join.right.output, join.condition)
    val bounds = shape.plainComparisons.filter(_.right.semanticEquals(join.rank.child))
    val isKnown = shape.conjuncts.forall {
      case _: EquiKey => true
      case c: Comparison => bounds.contains(c)
      case _ => false
    }
    bounds.filter(_.operator.isBelow == join.rank.isAscending) match {
      case Seq(bound) if isKnown && bound.exact => Some(Compared(shape.equiKeys, bound))
      case _ => None
    }
  }

  private def narrowed(
      join: RankedJoin,
      of: Compared,
      isOneScan: Boolean,
      conf: SQLConf
  ): Option[RankedJoin] = {
    val Join(right, left, _, _, _) = copied(join)
    val columns =
      AttributeMap(join.right.output.zip(right.output) ++ join.left.output.zip(left.output))
    def copy(e: Expression) = e.transform { case a: Attribute => columns.getOrElse(a, a) }
    val conditions = (of.keys.map(_.source) :+ of.bound.source).map(copy)
    val turned = if (join.rank.isAscending) Descending else Ascending
    val rank = SortOrder(copy(of.bound.left), turned)
    val next = RankedJoin(right, left, Inner, conditions.reduceOption(And(_, _)), rank, k = 1)
    val isFound =
      Planner.choose(next, conf).chosen.exists(c => c.offer.isRanked && c.join.residual.isEmpty)
    def narrow =
      if (isOneScan) nearestRows(join, next, of, copy)
      else semiJoin(join, of, nearest(next, of, copy, join.rank))
    if (isFound) Some(join.copy(right = narrow)) else None
  }

  /** For each left row that is the next one of some the nearest of these, as the right side's columns. */
  private def nearestRows(
      join: RankedJoin,
      next: RankedJoin,
      of: Compared,
      copy: Expression => Expression
  ): LogicalPlan = {
    val groups = (of.keys.map(_.left) :+ of.bound.left).map(e => Alias(copy(e), "group")())
    val value = Alias(copy(of.bound.right), "value")()
    val rows = Project((next.left.output ++ groups) :+ value, next)
    val columns = join.right.output.zip(next.left.output).map { case (column, ofCopy) =>
      val order = value.toAttribute
      val row = if (join.rank.isAscending) MinBy(ofCopy, order) else MaxBy(ofCopy, order)
      Alias(row.toAggregateExpression(), column.name)(column.exprId, column.qualifier)
    }
    Aggregate(groups.map(_.toAttribute), columns, rows)
  }

  /** The right side and the left one, of columns of their own. */
  private def copied(join: RankedJoin): Join =
    DeduplicateRelations(
      Join(
        Join(join.left, join.right, Inner, None, JoinHint.NONE),
        Join(
          PlanFacts.renamed(join.right),
          PlanFacts.renamed(join.left),
          Inner,
          None,
          JoinHint.NONE
        ),
        Inner,
        None,
        JoinHint.NONE
      )
    ).children(1).asInstanceOf[Join]

  /** For each left row that is the next one of some: their keys and the nearest of their values. */
  private def nearest(
      next: RankedJoin,
      of: Compared,
      copy: Expression => Expression,
      rank: SortOrder
  ): Aggregate = {
    val keys = of.keys.map(key => Alias(copy(key.left), "key")())
    val group = Alias(copy(of.bound.left), "group")()
    val value = Alias(copy(of.bound.right), "value")()
    val rows = Project((keys :+ group) :+ value, next)
    val read = value.toAttribute
    val extreme = (if (rank.isAscending) Min(read) else Max(read)).toAggregateExpression()
    val attributes = keys.map(_.toAttribute)
    Aggregate(attributes :+ group.toAttribute, attributes :+ Alias(extreme, "nearest")(), rows)
  }

  private def semiJoin(join: RankedJoin, of: Compared, nearest: Aggregate): Join = {
    val values = nearest.output
    val keys = of.keys.zip(values).map { case (key, value) =>
      if (key.nullSafe) EqualNullSafe(key.right, value) else EqualTo(key.right, value)
    }
    val condition = (keys :+ EqualTo(of.bound.right, values.last)).reduce[Expression](And(_, _))
    Join(join.right, nearest, LeftSemi, Some(condition), JoinHint.NONE)
  }
}
