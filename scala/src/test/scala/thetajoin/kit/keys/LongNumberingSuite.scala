package thetajoin.kit.keys

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Keys have the numbers that a map of Scala's gives them. */
class LongNumberingSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def assertNumbers(keys: Seq[Long]): Unit = {
    val (numbering, expected) = (new LongNumbering, mutable.HashMap.empty[Long, Int])
    for (key <- keys ++ keys) {
      assert(numbering.numberOf(key) == expected.getOrElseUpdate(key, expected.size), key)
      assert(numbering.size == expected.size)
    }
  }

  test("numbers of any kind") {
    val key = Gen.oneOf(Gen.choose(-9L, 9L), Gen.oneOf(Long.MinValue, Long.MaxValue), Gen.long)
    forAll(Gen.listOf(key))(assertNumbers)
  }

  test("many numbers, close together or far apart") {
    for (step <- Seq(1L, -1L, 1000L, 1L << 40))
      assertNumbers(Seq.tabulate(5000)(i => (i - 700) * step))
  }
}
