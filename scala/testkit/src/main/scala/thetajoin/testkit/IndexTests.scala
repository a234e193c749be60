package thetajoin.testkit

import org.apache.spark.serializer.KryoSerializer
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection}
import org.apache.spark.sql.catalyst.optimizer.BuildLeft
import org.apache.spark.sql.catalyst.plans.logical.Join
import org.apache.spark.util.SizeEstimator

import thetajoin.contract.{Cost, JoinIndex}
import thetajoin.planner.{Choice, Planner}

/** Indexes without a join: the laws of the contract, sizes and costs. */
private[testkit] trait IndexTests { this: AcceleratorSuite =>

  /** How many pairs of tables an index is tested with. */
  private val Indexes = 40

  /** The rows of these pairs. */
  private lazy val samples = (0 until Indexes).map { i =>
    val (a, b) = drawn(tables, i)
    Sample(a, b, Rows(a), Rows(b))
  }

  private case class Sample(a: Table, b: Table, rowsOfA: Rows, rowsOfB: Rows)

  private final class Rows(columns: Seq[Attribute], rows: Seq[InternalRow]) {

    /** As a side of a join has them, which may lack some columns. */
    def of(side: Seq[Attribute]): Seq[InternalRow] = {
      val project =
        UnsafeProjection.create(side.map(c => columns.find(_.name == c.name).get), columns)
      rows.map(project(_).copy())
    }
  }

  private object Rows {
    def apply(table: Table): Rows = {
      spark.sql(table.sql)
      val plan = spark.table(table.name).queryExecution.executedPlan
      new Rows(plan.output, plan.executeCollect().toSeq)
    }
  }

  /** The index of a top-k join may give its candidates in an order, and not all of them. */
  private[testkit] final def ofJoins: Seq[JoinForm] =
    forms.filter(Seq(JoinForm.Inner, JoinForm.Semi).contains)

  private final class Planned(val choice: Choice, join: Join) {
    private def isLeft = choice.join.buildSide == BuildLeft
    private def build = if (isLeft) join.left.output else join.right.output
    private def probe = if (isLeft) join.right.output else join.left.output
    def rows(sample: Sample): (Seq[InternalRow], Seq[InternalRow]) = {
      val (ofBuild, ofProbe) =
        if (isLeft) (sample.rowsOfA, sample.rowsOfB) else (sample.rowsOfB, sample.rowsOfA)
      (ofBuild.of(build), ofProbe.of(probe))
    }

    def side: String = if (isLeft) "a" else "b"

    def laws: IndexLaws = new IndexLaws(
      choice.join.spec,
      build,
      probe,
      choice.join.buildKeys,
      choice.join.probeKeys,
      choice.offer.served,
      choice.offer.exact,
      needsOne = choice.join.role.oneRowAtMost
    )
  }

  /** With either side built where a hint can ask for that, alone and beside equality keys. */
  private def planned(condition: String): Seq[Planned] = {
    val (a, b) = LazyList.from(0).map(drawn(tables, _)).find { case (a, b) =>
      a.rows.nonEmpty && b.rows.nonEmpty
    }.get
    create((a, b))
    for {
      form <- ofJoins
      side <- form.hinted if builtSides.contains(side)
      besideKeys <- if (servesKeys) Seq(false, true) else Seq(false)
    } yield {
      val setup = Setup(
        Some(side),
        besideKeys,
        besideRest = false,
        isPartitioned = false,
        hasCode = true,
        isAdaptive = false,
        sorts = false
      )
      val query = spark.sql(Drawn(accelerator.id, condition, form, setup, a, b).query)
      val join = query.queryExecution.optimizedPlan.collectFirst { case join: Join => join }.get
      val decision = Planner.choose(join, spark.sessionState.conf)
      new Planned(decision.chosen.getOrElse(fail(decision.toString)), join)
    }
  }

  for (condition <- conditions if ofJoins.nonEmpty) {
    test(s"an index for $condition keeps the contract") {
      for (join <- planned(condition)) {
        val laws = join.laws
        for ((sample, i) <- samples.zipWithIndex) {
          val (build, probe) = join.rows(sample)
          val sent: JoinIndex => JoinIndex = if (i % 2 == 0) IndexLaws.byJava else byKryo
          val broken = laws.broken(build, probe)(sent)
          assert(
            broken.isEmpty,
            s"\n${join.side} is built, ${broken.mkString}\n${sample.a.sql};\n${sample.b.sql};\n$clue"
          )
        }
      }
    }

    test(s"costs for $condition are numbers that grow with the rows") {
      planned(condition).map(_.choice.offer.cost).foreach(assertSane)
    }
  }

  /** As Kryo sends it that has been told of the accelerator's classes. */
  private def byKryo(index: JoinIndex): JoinIndex =
    kryo.deserialize[JoinIndex](kryo.serialize(index))

  private lazy val kryo = new KryoSerializer(spark.sparkContext.getConf).newInstance()

  for (condition <- conditions if ofJoins.nonEmpty)
    test(s"an index for $condition has about the bytes that it says") {
      for (join <- planned(condition)) {
        val builds = samples.flatMap(join.rows(_)._1)
        val (ofBuilder, index) = join.laws.built(Seq.fill(10)(builds).flatten)
        val (said, measured) = (index.bytes, SizeEstimator.estimate(index))
        assert(
          said <= 3 * measured + Little && measured <= 3 * said + Little,
          s"of ${index.getClass}"
        )
        assert(
          3 * ofBuilder + Little >= said,
          s"the builder of ${index.getClass} had said $ofBuilder bytes"
        )
      }
    }

  /** Bytes that matter to nobody: headers, and the tables of an index of few rows. */
  private val Little = 16384

  private def assertSane(cost: Cost): Unit = {
    assert(cost.share >= 0.0 && cost.share <= 1.0, s"a share of the build rows: $cost")
    for (time <- Seq(cost.perProbe, cost.perBuildRow, cost.perPair))
      assert(time >= 0.0 && !time.isInfinite, s"nanoseconds: $cost")
  }
}
