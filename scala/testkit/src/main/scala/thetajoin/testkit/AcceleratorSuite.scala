package thetajoin.testkit

import scala.annotation.{tailrec, unused}
import scala.util.{Failure, Random, Success, Try}

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.{DataType, StructType}

import org.scalacheck.rng.Seed
import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite

import thetajoin.contract.Accelerator
import thetajoin.{Settings, Yardsticks}

/**
 * All tests of an accelerator. A suite names the accelerator and what it serves:
 *
 * {{{
 *   class ResidueSuite extends AcceleratorSuite {
 *     override def accelerator: Accelerator = new ResidueAccelerator
 *     override def conditions: Seq[String] = Seq("(a.x + b.y) % 64 = 0")
 *     override def left: String = "x BIGINT"
 *     override def right: String = "y BIGINT"
 *   }
 * }}}
 *
 * Tables `a` and `b` are drawn, and joined with the extension off and on. The rows must be the same, and the executed
 * plan must have the accelerator. A difference is shrunk, and told as a script for spark-sql. Indexes are tested alone
 * too. The session has Kryo, and fails on a class that the accelerator does not name in `wireClasses`.
 *
 * The system properties `thetajoin.testkit.examples` and `thetajoin.testkit.seed` give the number of joins of a
 * join type, and the seed of a run that is to be repeated.
 */
abstract class AcceleratorSuite extends AnyFunSuite with CancellationTests {

  /** The accelerator under test: of a class that has a constructor without arguments. */
  def accelerator: Accelerator

  /** Conditions of SQL between columns of `a` and `b` that it serves. */
  def conditions: Seq[String]

  /** The columns of `a` that conditions read, as for CREATE TABLE. */
  def left: String

  /** The columns of `b`. */
  def right: String

  /** The joins that it serves: all types, existence tests alone, or top-k joins ([[JoinForm.First]]). */
  def forms: Seq[JoinForm] = JoinForm.all

  /** Whether it serves equality keys beside the condition. */
  def servesKeys: Boolean = true

  /** The sides that it may build an index of. */
  def builtSides: Seq[String] = Seq("a", "b")

  /** SQL texts of a column's values. `column` is a name such as `a.x`. */
  def values(@unused column: String, dataType: DataType): Gen[String] = Values.of(dataType)

  /** Settings of the session, for functions of an extension of one's own for instance. */
  def settings: Map[String, String] = Map.empty

  /** How many joins are drawn for a join type. */
  def examples: Int = sys.props.get("thetajoin.testkit.examples").fold(40)(_.toInt)

  private[testkit] final lazy val spark: SparkSession =
    TestSessions.of(accelerator, settings ++ NothingFolded)

  /** Joins of constants and of empty tables are joins all the same. */
  private val NothingFolded = Map(
    "spark.sql.optimizer.excludedRules" ->
      Seq("ConvertToLocalRelation", "PropagateEmptyRelation")
        .map("org.apache.spark.sql.catalyst.optimizer." + _).mkString(","),
    "spark.sql.adaptive.optimizer.excludedRules" ->
      "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation"
  )

  private val seed =
    sys.props.get("thetajoin.testkit.seed").fold(System.nanoTime())(_.toLong)

  private[testkit] final def tables: Gen[(Table, Table)] =
    Gen.zip(table("a", left), table("b", right))

  private def table(name: String, columns: String): Gen[Table] = {
    val own = StructType.fromDDL(columns)
    Table.of(name, own, own.map(field => values(s"$name.${field.name}", field.dataType)))
  }

  /** The same for a seed and a number. */
  private[testkit] final def drawn[A](gen: Gen[A], number: Int): A =
    gen.pureApply(Gen.Parameters.default, Seed(seed + number))

  private[testkit] final def clue: String = s"-Dthetajoin.testkit.seed=$seed repeats it."

  // ---- Joins ------------------------------------------------------------------------------------

  for (form <- forms)
    test(s"$form: the rows that Spark gives") {
      val setups =
        new Random(seed).shuffle(Setup.all(form.hinted.filter(builtSides.contains), servesKeys))
      for (i <- 0 until examples) {
        val (a, b) = drawn(tables, form.name.hashCode + i)
        val condition = conditions(i % conditions.size)
        val example = Drawn(accelerator.id, condition, form, setups(i % setups.size), a, b)
        if (wrong(example).isDefined) fail(report(example))
      }
    }

  for (condition <- conditions)
    test(s"some drawn rows match by $condition, and few of them make it fail") {
      def matches(number: Int) = {
        create(drawn(tables, number))
        val query = s"SELECT count(*) FROM a JOIN b ON $condition"
        Try(withSettings(usual)(spark.sql(query).head().getLong(0))).toOption
      }
      val some = (0 until 6).map(matches)
      assert(some.count(_.isDefined) >= 3, s"override `values` or `settings`. $clue")
      val others = Iterator.range(6, 200).map(matches)
      assert((some.iterator ++ others).exists(_.exists(_ > 0)), s"override `values`. $clue")
    }

  /** A new pair of views. */
  private[testkit] final def create(tables: (Table, Table)): Unit = {
    spark.sql(tables._1.sql)
    spark.sql(tables._2.sql): Unit
  }

  /** Spark alone, in the way that takes the least time for few rows. */
  private val usual = Seq(
    Settings.Enabled.key -> "false",
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.adaptive.enabled" -> "false"
  )

  /** None too if Spark's own join fails: an index need not meet the rows that make it fail. */
  private def wrong(example: Drawn): Option[String] = {
    create((example.left, example.right))
    Try(withSettings(usual)(Executed(spark, example.query).rows)).toOption.flatMap { expected =>
      Try(withSettings(example.setup.settings)(sorted(example)(Executed(
        spark,
        example.query
      )))) match {
        case Failure(e) => Some(s"it fails: $e")
        case Success(ran) => difference(expected, ran.rows).orElse(ran.notBy(accelerator.id))
      }
    }
  }

  private def sorted[A](example: Drawn)(body: => A): A =
    if (!example.setup.sorts) body
    else {
      Yardsticks.set("sortedIndexBytes", 0)
      try body
      finally Yardsticks.reset("sortedIndexBytes")
    }

  private def difference(expected: Seq[String], found: Seq[String]): Option[String] =
    if (expected == found) None
    else Some(s"rows that lack: ${expected.diff(found)}, rows too many: ${found.diff(expected)}")

  private def report(example: Drawn): String = {
    val least = smallest(example)
    s"${wrong(least).mkString}\n\n${least.script(NothingFolded.toSeq)}\n\n$clue"
  }

  /** The first smaller one that is wrong too, and so on. */
  @tailrec private def smallest(example: Drawn): Drawn =
    implicitly[Shrink[Drawn]].shrink(example).find(wrong(_).isDefined) match {
      case Some(smaller) => smallest(smaller)
      case None => example
    }

  private[testkit] final def withSettings[A](pairs: Seq[(String, String)])(body: => A): A = {
    val before = pairs.map { case (key, _) => key -> spark.conf.getOption(key) }
    pairs.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally before.foreach {
        case (key, Some(value)) => spark.conf.set(key, value)
        case (key, None) => spark.conf.unset(key)
      }
  }
}
