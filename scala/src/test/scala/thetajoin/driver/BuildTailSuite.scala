package thetajoin.driver

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.driver.unmatched.{BuildTail, UnmatchedRows}

/** Marking build rows and emitting them by mark, against plain sets. */
class BuildTailSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val Rows = 200
  private val runs = Gen.listOf(for {
    from <- Gen.choose(0, Rows)
    until <- Gen.choose(from, Rows)
  } yield (from, until))

  private def positions(tail: BuildTail): Seq[(Int, Boolean)] =
    Iterator.continually(tail.nextRun()).takeWhile(identity)
      .flatMap(_ => (tail.from until tail.until).map(_ -> tail.matched)).toSeq

  private def marked(marks: Seq[(Int, Int)]): (UnmatchedRows, Set[Int]) = {
    val unmatched = new UnmatchedRows(Rows)
    marks.foreach { case (from, until) => unmatched.markRun(from, until) }
    (unmatched, marks.flatMap { case (from, until) => from until until }.toSet)
  }

  test("next skips what is marked") {
    forAll(runs) { marks =>
      val (unmatched, expected) = marked(marks)
      (0 to Rows).foreach { p =>
        assert(unmatched.next(p, Rows) == (p until Rows).find(!expected(_)).getOrElse(Rows))
        val until = math.min(p + 3, Rows)
        val bounded = unmatched.next(p, until)
        val first = (p until until).find(!expected(_))
        assert(first.fold(bounded >= until)(_ == bounded))
      }
      assert(unmatched.isEmpty == (expected.size == Rows))
    }
  }

  test("slices of bits give each position once") {
    forAll(runs, Gen.oneOf(64, 128, 192)) { (marks, slice) =>
      val (unmatched, expected) = marked(marks)
      def emitted(kind: Existence) = (0 until Rows by slice).flatMap { first =>
        val end = math.min(first + slice, Rows)
        positions(new BuildTail(unmatched.slice(first, end).matched, first, end, kind))
      }
      assert(emitted(Existence.Matched).map(_._1).toSet == expected)
      assert(emitted(Existence.Unmatched).map(_._1).toSet == (0 until Rows).toSet -- expected)
      assert(emitted(Existence.Marked).sorted == (0 until Rows).map(p => p -> expected(p)))
    }
  }

  test("the stand-in for probe rows is one null") {
    val tail = new BuildTail(Array(0L), 0, 1, Existence.Matched)
    assert(tail.toList == List(null))
  }
}
