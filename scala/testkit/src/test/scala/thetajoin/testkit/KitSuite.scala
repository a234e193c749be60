package thetajoin.testkit

import org.apache.spark.sql.types.DataType

import org.scalacheck.Gen
import org.scalatest.events.{Event, TestFailed}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.{Args, Reporter}

import thetajoin.contract.Accelerator

/** The kit finds the faults of an accelerator, and none where there is none. */
class KitSuite extends AnyFunSuite {

  private final class Tested(override val accelerator: Accelerator) extends AcceleratorSuite {
    override def conditions: Seq[String] = Seq("(a.x + b.y) % 4 = 0")
    override def left: String = "x BIGINT"
    override def right: String = "y BIGINT"
    override def servesKeys: Boolean = false
    override def forms: Seq[JoinForm] = Seq(JoinForm.Inner)
    override def values(column: String, dataType: DataType): Gen[String] =
      Values.orNull(Gen.choose(-9, 9).map(_.toString))
  }

  private val Joins = "JOIN: the rows"
  private val Contract = "keeps the contract"
  private val Costs = "costs"
  private val Bytes = "has about the bytes"
  private val Cancelled = "cancelled"

  /** What the tests say of it, by a part of their names; none of a test that passes. */
  private def failures(accelerator: Accelerator, tests: String*): Map[String, String] = {
    val suite = new Tested(accelerator)
    val found = Map.newBuilder[String, String]
    val reporter = new Reporter {
      override def apply(event: Event): Unit = event match {
        case failed: TestFailed => found += failed.testName -> failed.message
        case _ =>
      }
    }
    for (part <- tests; name <- suite.testNames if name.contains(part))
      suite.run(Some(name), Args(reporter))
    val messages = found.result()
    tests.flatMap(part => messages.find(_._1.contains(part)).map(part -> _._2)).toMap
  }

  test("an accelerator without a fault passes") {
    assert(failures(new Faultless, Joins, Contract, Costs, Bytes, Cancelled) == Map.empty)
  }

  test("a candidate that is not given is a difference, and shrunk to a script") {
    val found = failures(new FaultyLacks, Joins, Contract)
    assert(found(Contract).contains("match too"))
    val script = found(Joins)
    assert(script.contains("rows that lack"))
    assert(script.contains("SET spark.sql.codegen.wholeStage="))
    assert(script.contains("CREATE OR REPLACE TEMP VIEW a AS SELECT * FROM VALUES"))
    assert(script.contains("THETA_JOIN(faultylacks)"))
    assert(script.contains("-Dthetajoin.testkit.seed="))
    // One row of each side is enough.
    assert("""\(\d+, """.r.findAllIn(script.substring(script.indexOf("VALUES"))).size == 2, script)
  }

  test("faults of an index, of its sizes and of costs") {
    assert(failures(new FaultyTwice, Contract)(Contract).contains("names a row twice"))
    assert(failures(new FaultyFalls, Contract)(Contract).contains("bytes of the builder fall"))
    assert(failures(new FaultyBytes, Bytes)(Bytes).contains("FaultyIndex"))
    assert(failures(new FaultyCost, Costs)(Costs).contains("a share of the build rows"))
  }

  test("a join that another one runs") {
    val found = failures(new FaultyDeclines, Joins)(Joins)
    assert(found.contains("faultydeclines did not run it"))
    assert(found.contains("no sum of x and y"))
  }

  test("a look-up that does not ask whether it is cancelled") {
    assert(failures(new FaultyEndless, Cancelled).contains(Cancelled))
  }

  test("a class that Kryo has not been told of") {
    assert(failures(new FaultySecret, Joins)(Joins).contains("FaultyIndex"))
  }
}
