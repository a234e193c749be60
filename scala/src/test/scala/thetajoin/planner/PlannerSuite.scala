package thetajoin.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.physical.IdentityBroadcastMode
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.accelerator.InvalidAcceleratorException
import thetajoin.accelerator.anyof.AnyOfAccelerator
import thetajoin.accelerator.boxes.BoxesAccelerator
import thetajoin.accelerator.containment.ContainmentAccelerator
import thetajoin.accelerator.patterns.PatternsAccelerator
import thetajoin.accelerator.piecewise.PiecewiseSpec
import thetajoin.accelerator.similar.SimilarAccelerator
import thetajoin.accelerator.vector.VectorAccelerator
import thetajoin.accelerator.wildcard.WildcardAccelerator
import thetajoin.contract.{Accelerator, Contract, JoinRequest, Offer}
import thetajoin.exec.ThetaJoinStrategy
import thetajoin.reason.{Reason, ReasonCode}
import thetajoin.{InvalidSettingException, Settings, SharedSession}

/** An accelerator with a defect. */
final class DefectiveAccelerator extends Accelerator {
  override val contract: Int = Contract.Version
  override val id: String = "defective"
  override val summary: String = "fails on every join"
  override def offer(request: JoinRequest): Either[Reason, Offer] =
    throw new IllegalStateException("defect")
}

/** Rows that Spark knows by their bytes alone. */
final case class Sized(output: Seq[Attribute], bytes: Long) extends LeafNode {
  override def computeStats(): Statistics = Statistics(sizeInBytes = bytes)
}

class PlannerSuite extends AnyFunSuite with SharedSession {
  private val x = AttributeReference("x", LongType)()
  private val y = AttributeReference("y", LongType)()
  private val left = LocalRelation(x)
  private val right = LocalRelation(y)

  private def join(
      condition: Expression,
      joinType: JoinType = Inner,
      l: LogicalPlan = left,
      r: LogicalPlan = right
  ): Join = Join(l, r, joinType, Some(condition), JoinHint.NONE)

  private def conf(settings: (String, String)*): SQLConf = {
    val conf = new SQLConf
    settings.foreach { case (k, v) => conf.setConfString(k, v) }
    conf
  }

  private def reason(plan: Join, settings: (String, String)*): Option[ReasonCode] =
    Planner.choose(plan, conf(settings: _*)).outcome.left.toOption.map(_.code)

  /** Reasons of accelerators that are for other conditions. */
  private val noKeys = Seq(
    ReasonCode.NoEquiKey,
    ReasonCode.NoSecondComparison,
    BoxesAccelerator.FewDimensions,
    ContainmentAccelerator.NoSetCondition,
    WildcardAccelerator.NoOpenColumn,
    PatternsAccelerator.NoTextCondition,
    VectorAccelerator.NoVectors,
    SimilarAccelerator.NoEditDistance,
    AnyOfAccelerator.NoOr
  )

  private def losers(plan: Join, settings: (String, String)*): Map[String, ReasonCode] =
    Planner.choose(plan, conf(settings: _*)).losers
      .filterNot(loser => noKeys.contains(loser.reason.code))
      .map(l => l.accelerator -> l.reason.code)
      .toMap

  test("a side that must stay where it is streams, whatever its size and the join type") {
    val stays = Some(HintInfo(strategy = Some(NO_BROADCAST_AND_REPLICATION)))
    for (joinType <- Seq(Inner, LeftOuter, RightOuter, FullOuter)) {
      val plan = join(GreaterThan(x, y), joinType)
      def side(hint: JoinHint) =
        Planner.choose(plan.copy(hint = hint), conf()).chosen.map(_.join.buildSide)
      assert(side(JoinHint(stays, None)).contains(BuildRight))
      assert(side(JoinHint(None, stays)).contains(BuildLeft))
    }
  }

  test("the cheapest offer wins, and the losers keep their reasons") {
    val decision = Planner.choose(join(LessThan(x, y)), conf())
    assert(decision.chosen.map(_.join.accelerator).contains("piecewise"))
    assert(decision.losers.map(_.reason.code) == noKeys)
    assert(
      !noKeys.contains(ReasonCode.OtherNeed) && !decision.losers.exists(_.accelerator == "nearest")
    )
    val off = Settings.acceleratorEnabled("piecewise").key -> "false"
    assert(losers(join(LessThan(x, y)), off) == Map("piecewise" -> ReasonCode.AcceleratorDisabled))
    assert(losers(join(Not(EqualTo(x, y)))) == Map("piecewise" -> ReasonCode.NoComparison))
  }

  test("what an index answers is tested only where a key failed, and it then keeps all rows") {
    val above = GreaterThan(y, Add(x, Literal(1L)))
    def planned(joinType: JoinType) =
      Planner.choose(join(above, joinType), conf()).outcome.toOption.get.join
    for (joinType <- Seq(Inner, LeftSemi)) {
      assert(planned(joinType).residual == Seq(above) && planned(joinType).ofFound.isEmpty)
      assert(planned(joinType).spec == PiecewiseSpec(">"))
    }
    val safe = Planner.choose(join(GreaterThan(y, x), LeftSemi), conf()).outcome.toOption.get.join
    assert(safe.residual.isEmpty && safe.spec != PiecewiseSpec(">"))
  }

  test("keys that no index orders are refused") {
    val lower = StringType("UTF8_LCASE")
    def keys(t: DataType) = {
      val (k, m) = (AttributeReference("k", t)(), AttributeReference("m", t)())
      join(LessThan(k, m), l = LocalRelation(k), r = LocalRelation(m))
    }
    assert(losers(keys(lower)) == Map("piecewise" -> ReasonCode.KeyCollation))
    assert(losers(keys(CalendarIntervalType)) == Map("piecewise" -> ReasonCode.KeyType))
    val struct = StructType(Seq(StructField("s", lower)))
    assert(losers(keys(struct)) == Map("piecewise" -> ReasonCode.KeyCollation))
    assert(losers(keys(StringType)).isEmpty)
  }

  test("conditions that are not pure functions of the row are left to Spark") {
    assert(reason(join(LessThan(x, Rand(Literal(1L))))).contains(ReasonCode.Nondeterministic))
    // PythonEvalType.SQL_BATCHED_UDF, which is private to Spark.
    val batched = 100
    val udf =
      PythonUDF(
        "f",
        null,
        BooleanType,
        Seq(x, y),
        batched,
        udfDeterministic = true
      )
    assert(reason(join(udf)).contains(ReasonCode.PythonUdf))
  }

  test("a side that Spark has broadcast for itself is left to Spark") {
    val plan = spark.range(3).toDF("y").queryExecution
    val exchange = BroadcastExchangeExec(IdentityBroadcastMode, plan.sparkPlan)
    val stage = BroadcastQueryStageExec(0, exchange, exchange.canonicalized)
    val broadcast = LogicalQueryStage(plan.optimizedPlan, stage)
    val planned = join(LessThan(x, broadcast.output.head), r = broadcast)
    assert(reason(planned).contains(ReasonCode.AlreadyBroadcast))
  }

  private def placement(joinType: JoinType, l: Long, r: Long): Option[Placement] = {
    def sized(bytes: Long) = spark.range(bytes / 8).queryExecution.optimizedPlan
    val (lp, rp) = (sized(l), sized(r))
    val renamed = Project(Seq(Alias(rp.output.head, "y")()), rp)
    val plan = join(LessThan(lp.output.head, renamed.output.head), joinType, lp, renamed)
    Planner.choose(plan, conf()).chosen.map(_.placement)
  }

  test("the side that need not be preserved is built, unless it is large and the other is not") {
    def side(joinType: JoinType, l: Long, r: Long) = placement(joinType, l, r).map(_.buildSide)
    val (small, large) = (1L << 10, 1L << 26)
    assert(side(LeftOuter, small, small).contains(BuildRight))
    assert(side(RightOuter, small, small).contains(BuildLeft))
    assert(side(LeftSemi, small, large).contains(BuildLeft))
    assert(side(Inner, small, large).contains(BuildLeft))
    assert(side(FullOuter, large, small).contains(BuildRight))
    assert(placement(LeftAnti, large, large).contains(Placement.Broadcast(BuildRight)))
  }

  test("of two sides with about as many rows the one with fewer bytes is built") {
    def sized(columns: Int, rows: Long) = {
      val output = Seq.tabulate(columns)(i => AttributeReference(s"c$i", LongType)())
      Sized(output, rows * (8 + 8 * columns))
    }
    def side(l: LogicalPlan, r: LogicalPlan) = {
      val (key, bound) = (l.output, r.output)
      val others = Seq(LessThan(key(1), bound(1)), GreaterThanOrEqual(key(1), bound(2)))
      for (condition <- Seq(others, EqualTo(key.head, bound.head) +: others))
        yield Planner.choose(join(condition.reduce(And), Inner, l, r), conf()).chosen
          .map(_.join.buildSide)
    }
    val (wide, narrow) = (sized(22, 50000), sized(4, 52000))
    assert(side(wide, narrow) == Seq(Some(BuildRight), Some(BuildRight)))
    assert(side(narrow, wide) == Seq(Some(BuildLeft), Some(BuildLeft)))
    // Far fewer rows are built, wide or not.
    assert(side(sized(22, 5000), narrow) == Seq(Some(BuildLeft), Some(BuildLeft)))
  }

  test("of two large sides the preserved one, or the smaller one, is cut into blocks") {
    val huge = 1L << 30
    val most = 128L << 20
    assert(placement(Inner, 2 * huge, huge).contains(Placement.Blocks(BuildRight, most)))
    assert(placement(LeftAnti, huge, huge).contains(Placement.Blocks(BuildLeft, most)))
    assert(placement(RightOuter, huge, huge).contains(Placement.Blocks(BuildRight, most)))
    assert(placement(FullOuter, huge, 2 * huge).contains(Placement.Broadcast(BuildLeft)))
  }

  test("a failure of ours falls back to Spark's plan; a typo in a setting does not") {
    withConf(Settings.Accelerators.key -> classOf[DefectiveAccelerator].getName) {
      val query = spark.sql("SELECT * FROM range(9) a JOIN range(9) b ON a.id < b.id")
      assert(query.count() == 36 && thetaJoins(query.queryExecution.executedPlan).isEmpty)
      val logical = query.queryExecution.optimizedPlan.collectFirst { case j: Join => j }.get
      val code = ThetaJoinStrategy.plan(logical).decision.outcome.left.toOption.map(_.code)
      assert(code.contains(ReasonCode.PlanningFailed))
    }
    assertThrows[InvalidSettingException](reason(
      join(LessThan(x, y)),
      Settings.Enabled.key -> "maybe"
    ))
    assertThrows[InvalidAcceleratorException](
      reason(join(LessThan(x, y)), Settings.Accelerators.key -> "no.Such")
    )
  }
}
