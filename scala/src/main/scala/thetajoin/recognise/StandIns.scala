package thetajoin.recognise

import org.apache.spark.sql.catalyst.expressions.{And, Expression, OuterReference, SortOrder}
import org.apache.spark.sql.catalyst.optimizer.{BuildRight, RewritePredicateSubquery}
import org.apache.spark.sql.catalyst.plans.InnerLike
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule

import thetajoin.Settings
import thetajoin.accelerator.Registry
import thetajoin.condition.{ConditionAnalysis, FoundByIndex, Sides}
import thetajoin.contract.Accelerator
import thetajoin.driver.JoinRole
import thetajoin.logical.{ArrivalOrder, FileOfRow, OrAsItIs, RankedJoin}
import thetajoin.planner.Planner

/**
 * Keeps conditions in joins that Spark's optimizer would take out of them, to test them on all pairs, or would refuse
 * there: an accelerator's [[FoundByIndex]] stands in for one conjunct of a join. It runs between the analyzer and the
 * optimizer. [[OriginalConditions]] takes it back where no index serves the join.
 */
object StandIns extends Rule[LogicalPlan] with OrAsItIs {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!Settings.Enabled.in(conf) || plan.isStreaming) plan
    else {
      lazy val accelerators = this.accelerators
      plan.transformUpWithSubqueries {
        case join: Join
            if join.resolved && JoinRole.of(join.joinType, BuildRight).isDefined =>
          val sides = new Sides(join.left.outputSet, join.right.outputSet)
          def isPaired(e: Expression) =
            e.references.nonEmpty && !sides.ofOne(e) && e.references.subsetOf(join.inputSet)
          orElse(join)(join.condition.flatMap(replaced(_, isPaired, accelerators)).map(c =>
            join.copy(condition = Some(c))
          ))
        case filter: Filter if filter.resolved =>
          def isPaired(e: Expression) =
            e.exists(_.isInstanceOf[OuterReference]) && e.references.nonEmpty ||
              meetInJoin(filter.child, e)
          orElse(filter)(
            replaced(filter.condition, isPaired, accelerators).map(Filter(_, filter.child))
          )
      }
    }

  private def accelerators: Seq[Accelerator] =
    Registry.accelerators(conf).filter(a => Settings.acceleratorEnabled(a.id).in(conf))

  /** The order of a top-k join with a stand-in for its value, if there is one. */
  def ofRank(order: SortOrder): Option[SortOrder] = known(order).map { case (_, standIn) =>
    order.copy(child = standIn)
  }

  /** The accelerator that has the stand-in. */
  def knowing(order: SortOrder): Option[String] = known(order).map { case (a, _) => a.id }

  private def known(order: SortOrder): Option[(Accelerator, FoundByIndex)] =
    accelerators.iterator.flatMap(a => a.standIn(order).map((a, _))).nextOption()

  private def orElse(node: LogicalPlan)(changed: => Option[LogicalPlan]): LogicalPlan =
    orAsItIs("a condition of a join")(changed).getOrElse(node)

  /** The condition with a stand-in for the first conjunct for which there is one. */
  private def replaced(
      condition: Expression,
      isPaired: Expression => Boolean,
      accelerators: => Seq[Accelerator]
  ): Option[Expression] = {
    val conjuncts = ConditionAnalysis.conjuncts(condition)
    val found = for {
      (conjunct, i) <- conjuncts.iterator.zipWithIndex
      if isPaired(conjunct)
      standIn <- accelerators.iterator.flatMap(_.standIn(conjunct))
    } yield conjuncts.updated(i, standIn)
    found.nextOption().map(_.reduce(And(_, _)))
  }

  /** Whether a filter's condition will become the condition of an inner join below it. */
  private def meetInJoin(plan: LogicalPlan, condition: Expression): Boolean = plan match {
    case Join(left, right, _: InnerLike, _, _) =>
      val read = condition.references
      if (read.subsetOf(left.outputSet)) meetInJoin(left, condition)
      else if (read.subsetOf(right.outputSet)) meetInJoin(right, condition)
      else read.subsetOf(left.outputSet ++ right.outputSet)
    case filter: Filter => meetInJoin(filter.child, condition)
    case _ => false
  }
}

/**
 * Takes the original conditions back where no index serves a join, so that Spark runs it, or refuses it, as it would
 * without [[StandIns]]. It runs ahead of the rules by which Spark does so.
 */
object OriginalConditions extends Rule[LogicalPlan] with OrAsItIs {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(hasStandIn)) plan
    else {
      val mustStay = FileOfRow.isAskedIn(plan) || ArrivalOrder.mattersIn(plan)
      def isServed(join: Join) = !mustStay &&
        orAsItIs("the condition of a join")(Planner.choose(join, conf).chosen).isDefined
      plan.transformUp {
        case join: RankedJoin => join
        case join: Join if hasStandIn(join) => if (isServed(join)) join else original(join)
        case node: UnaryNode if hasStandIn(node) =>
          val joined = RewritePredicateSubquery(node)
          val joins = joined.collect { case join: Join if hasStandIn(join) => join }
          val isInJoins = !joined.exists(n => !n.isInstanceOf[Join] && hasStandIn(n))
          if (isInJoins && joins.forall(isServed)) joined else original(node)
        case node if hasStandIn(node) => original(node)
      }
    }

  private def hasStandIn(node: LogicalPlan): Boolean = node.expressions.exists(FoundByIndex.isIn)

  private def original(node: LogicalPlan): LogicalPlan = node.transformExpressions {
    case standIn: FoundByIndex => standIn.original
  }
}
