package thetajoin.kit.keys

import scala.collection.mutable
import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** The set holds what a set of Scala's does, whichever form it has meanwhile. */
class LongSetSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 150)

  private val starts = Gen.oneOf(
    Gen.oneOf(0L, -700L, 100000L, Long.MinValue, Long.MaxValue - 5000, Long.MaxValue),
    Gen.long
  )
  private val stretch = for {
    start <- starts
    step <- Gen.oneOf(1L, -1L, 3L, 100L, -127L, 129L, 1L << 40)
    count <- Gen.oneOf(1, 10, 600, 3000)
    isShuffled <- Gen.oneOf(true, false)
    seed <- Gen.long
  } yield {
    val keys = Seq.tabulate(count)(i => start + i * step)
    if (isShuffled) new Random(seed).shuffle(keys) else keys
  }

  private def assertHolds(keys: Seq[Long]): LongTable = {
    val (set, expected) = (new LongSet, mutable.HashSet.empty[Long])
    for (key <- keys) assert(set.add(key) == expected.add(key), key)
    assert(set.size == expected.size)
    val table = set.table()
    for (key <- expected) {
      assert(table.contains(key), key)
      for (near <- Seq(key - 1, key + 1, key ^ Long.MinValue, key ^ 64))
        assert(table.contains(near) == expected(near), near)
    }
    assert(table.contains(0L) == expected(0L))
    table
  }

  test("stretches of numbers, one after another") {
    forAll(Gen.choose(1, 4).flatMap(Gen.listOfN(_, stretch)))(stretches =>
      assertHolds(stretches.flatten)
    )
  }

  test("numbers that go on in both directions") {
    val outwards = (0L to 3000L).flatMap(i => Seq(i, -i))
    assert(assertHolds(outwards).isInstanceOf[DenseLongs])
    assert(assertHolds(outwards :+ (1L << 50)).isInstanceOf[HashedLongs])
  }

  test("numbers that come close to each other only later") {
    val sparse = Seq.tabulate(2000)(_ * 1000L)
    assert(assertHolds(sparse).isInstanceOf[HashedLongs])
    assert(assertHolds(sparse ++ (0L to 60000L)).isInstanceOf[DenseLongs])
  }
}
