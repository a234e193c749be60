package org.apache.spark.joinsuites

import java.nio.file.Path
import scala.io.Source
import scala.util.Using
import scala.util.control.NonFatal

import org.scalatest.{Args, DynaTags, Filter, Suite}

/**
 * Runs Spark's own join suites with the extension, and those tests that fail once more without it.
 *
 * What fails only with the extension must be the expected differences, no less and no more, and each suite whose
 * queries Spark plans must have run joins of ours.
 */
object SuiteRunner {
  private val extensions = "spark.sql.extensions"

  def main(args: Array[String]): Unit = {
    val expected = expectedDifferences
    val home = Path.of("home").toAbsolutePath
    val selections = Selection.all(home)
    // Sessions of Spark's tests take their settings from system properties.
    sys.props ++= Seq(
      "spark.testing" -> "true",
      "spark.test.home" -> home.toString,
      "spark.ui.enabled" -> "false",
      "spark.sql.queryExecutionListeners" -> classOf[JoinCounter].getName,
      extensions -> "thetajoin.ThetaJoinExtensions"
    )
    val (outcomes, idle) = selections.map { selection =>
      val outcomes = run(selection)
      val missing = selection.tests.toSeq.flatten.diff(outcomes.map(_.test))
      val notRun = missing.map(test => s"${selection.suite}: $test did not run")
      val noJoins = outcomes.forall(_.joins == 0) && selection.planned
      (outcomes, notRun ++ Option.when(noJoins)(s"${selection.suite} ran no join of ours"))
    }.unzip
    val failed = outcomes.flatten.filter(_.failure.nonEmpty)
    val failedWithout = runWithoutExtension(selections, failed)
    val differing = failed.filterNot(outcome => failedWithout(outcome.name))

    val problems = idle.flatten ++
      differing
        .filterNot(outcome => expected(outcome.name))
        .map(o => s"fails with the extension only: ${o.name}\n${o.failure.mkString}") ++
      (expected -- differing.map(_.name)).map(name => s"expected to differ, but does not: $name")
    problems.foreach(println)
    println(s"${differing.size} tests differ, ${expected.size} expected; ${problems.size} problems")
    sys.exit(if (problems.isEmpty) 0 else 1)
  }

  /** The list has a comment above each test that says why it differs. */
  private def expectedDifferences: Set[String] =
    Using.resource(Source.fromResource("expected-differences.txt")) {
      _.getLines().filterNot(line => line.isBlank || line.startsWith("#")).toSet
    }

  /** The names of those failed tests that fail without the extension too. */
  private def runWithoutExtension(
      selections: Seq[Selection],
      failed: Seq[Outcome]
  ): Set[String] = {
    sys.props -= extensions
    val again = for {
      selection <- selections
      tests = failed.filter(_.suite == selection.suite).map(_.test).toSet
      if tests.nonEmpty
      outcome <- run(selection.copy(tests = Some(tests)))
    } yield outcome
    again.filter(_.failure.nonEmpty).map(_.name).toSet
  }

  private def run(selection: Selection): Seq[Outcome] = {
    val suite = Class
      .forName(selection.className)
      .getDeclaredConstructor()
      .newInstance()
      .asInstanceOf[Suite]
    val filter = selection.tests.fold(Filter.default) { tests =>
      val selected = Set("selected")
      val tags = Map(suite.suiteId -> tests.map(_ -> selected).toMap)
      Filter(Some(selected), dynaTags = DynaTags(Map.empty, tags))
    }
    val reporter = new OutcomeReporter(selection.suite)
    val start = System.nanoTime
    try suite.run(None, Args(reporter, filter = filter))
    catch { case NonFatal(e) => reporter.add("the suite as a whole", Some(e.toString)) }
    val outcomes = reporter.outcomes.toList
    val (withOurs, seconds) = (outcomes.filter(_.joins > 0), (System.nanoTime - start) / 1000000000)
    println(
      s"${selection.suite}${if (sys.props.contains(extensions)) "" else " without the extension"}: " +
        s"${outcomes.size} tests in $seconds s, ${outcomes.count(_.failure.nonEmpty)} failed, " +
        s"${reporter.canceled} canceled; ${withOurs.map(_.joins).sum} joins of ours in ${withOurs.size} tests"
    )
    outcomes
  }
}
