package thetajoin.exec

import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Join, LogicalPlan, Window}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf

import thetajoin.InvalidSettingException
import thetajoin.accelerator.InvalidAcceleratorException
import thetajoin.condition.FoundByIndex
import thetajoin.large.RangeBounds
import thetajoin.logical.{AggregatedSide, ArrivalOrder, FileOfRow, NumberedRows, RankedJoin, Sieve}
import thetajoin.planner.{Choice, Decision, Placement, Planner}
import thetajoin.reason.{Reason, ReasonCode}

/** A decision, with the node that carries it out if a join is accelerated. */
final case class Planned(decision: Decision, node: Option[SparkPlan])

/** Turns the planner's choice into an exec node; declines by Nil, upon which Spark plans the join. */
object ThetaJoinStrategy extends SparkStrategy with Logging {

  private val Decided = TreeNodeTag[Decision]("thetajoin.decision")

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = {
    FileOfRow.mark(plan)
    plan match {
      case join: Join =>
        val planned = this.plan(join)
        join.setTagValue(Decided, planned.decision)
        planned.node.toSeq
      case join: RankedJoin =>
        val choice = decided(join)
        Seq(execNode(join.ofAll, choice))
      case node: NumberedRows => Seq(NumberedRowsExec(planLater(node.child), node.number))
      case node: Sieve => Seq(SieveExec(node.spec, node.keys, planLater(node.child)))
      case node: RangeBounds =>
        Seq(RangeBoundsExec(node, planLater(node.left), planLater(node.right)))
      case aggregate: Aggregate =>
        AggregatedSide.mark(aggregate)
        Nil
      case window: Window =>
        ArrivalOrder.mark(window)
        Nil
      case _ => Nil
    }
  }

  /** The decision when the join was planned. If it was planned without us, the decision that would be made now. */
  def decision(join: LogicalPlan): Option[Decision] = join match {
    case join: Join => Some(join.getTagValue(Decided).getOrElse(plan(join).decision))
    case join: RankedJoin => join.getTagValue(Decided)
    case _ => None
  }

  /** Nobody else would run it, so a failure is the query's. */
  private def decided(join: RankedJoin): Choice = {
    val served = Planner.choose(join, SQLConf.get)
    val decision =
      if (served.chosen.isDefined) served
      else Planner.choose(join, SQLConf.get, ignoresSwitches = true)
    join.setTagValue(Decided, decision)
    decision.outcome.fold(reason => throw new IllegalStateException(reason.toString), identity)
  }

  /** A setting that can't be read is an error; any other failure of ours leaves the join to Spark. */
  def plan(join: Join): Planned =
    try {
      val decision = Planner.choose(join, SQLConf.get)
      decision.outcome.left.foreach(reason => if (!isSparks(join)) throw unserved(join, reason))
      Planned(decision, decision.chosen.map(execNode(join, _)))
    } catch {
      case e: InvalidSettingException => throw e
      case e: InvalidAcceleratorException => throw e
      case NonFatal(e) if isSparks(join) =>
        warnOnce(join, e)
        Planned(Decision(Left(ReasonCode.PlanningFailed(e.toString))), None)
    }

  /** Whether Spark can run the join. */
  private def isSparks(join: Join): Boolean = !join.condition.exists(FoundByIndex.isIn)

  private def unserved(join: Join, reason: Reason): IllegalStateException = {
    val condition = join.condition.fold("")(_.sql)
    new IllegalStateException(
      s"No index serves the join ON $condition, and Spark can't run it: $reason"
    )
  }

  /** Adaptive execution plans a join again and again: a failure is logged when it is first seen. */
  private def warnOnce(join: Join, failure: Throwable): Unit =
    if (warned.add(failure.toString)) {
      val node = join.simpleString(join.conf.maxToStringFields)
      logWarning(s"thetajoin: planning failed, Spark's own plan is used for: $node", failure)
    }

  private val warned = ConcurrentHashMap.newKeySet[String]()

  private def execNode(join: Join, choice: Choice): SparkPlan = {
    val (left, right) = (planLater(join.left), planLater(join.right))
    choice.placement match {
      case Placement.Shuffle(side) =>
        val ExtractEquiJoinKeys(_, leftKeys, rightKeys, others, _, _, _, _) = join: @unchecked
        ArrangedJoin.arrange(
          choice.join,
          ShuffledHashJoinExec(leftKeys, rightKeys, join.joinType, side, others, left, right)
        )
      case _: Placement.Broadcast =>
        new BroadcastThetaJoinExec(
          left,
          right,
          join.joinType,
          join.condition,
          choice.join,
          choice.repartition,
          choice.sortsProbe
        )
      case Placement.Blocks(_, bytes) =>
        val (leftKeys, rightKeys) = join match {
          case ExtractEquiJoinKeys(_, leftKeys, rightKeys, _, _, _, _, _) => (leftKeys, rightKeys)
          case _ => (Nil, Nil)
        }
        BlockThetaJoinExec(
          leftKeys,
          rightKeys,
          join.joinType,
          join.condition,
          left,
          right,
          bytes,
          choice.join
        )
    }
  }
}
