package org.apache.spark.joinsuites

import scala.collection.mutable

import org.scalatest.Reporter
import org.scalatest.events.{Event, TestCanceled, TestFailed, TestStarting, TestSucceeded}

/** What became of a test, and how many joins of ours its queries ran. */
final case class Outcome(suite: String, test: String, failure: Option[String], joins: Int) {
  val name: String = s"$suite: $test"
}

/** Collects outcomes. Canceled tests, which lack something on this machine, are only counted. */
final class OutcomeReporter(suite: String) extends Reporter {
  val outcomes = mutable.ListBuffer.empty[Outcome]
  var canceled = 0

  override def apply(event: Event): Unit = event match {
    case _: TestStarting => JoinCounter.take()
    case e: TestSucceeded => add(e.testName, None)
    case e: TestFailed => add(e.testName, Some(e.message))
    case _: TestCanceled => canceled += 1
    case _ =>
  }

  def add(test: String, failure: Option[String]): Unit =
    outcomes += Outcome(suite, test, failure, JoinCounter.take())
}
