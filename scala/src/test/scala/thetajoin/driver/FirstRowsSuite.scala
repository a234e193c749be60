package thetajoin.driver

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.driver.probe.FirstRows

class FirstRowsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val ranks = Gen.listOf(
    Gen.frequency(3 -> Gen.choose(-3L, 3L), 1 -> Gen.oneOf(Long.MinValue, Long.MaxValue))
  )
  private val most = Gen.frequency(3 -> Gen.choose(1, 5), 1 -> Gen.choose(17, 40))

  private def positions(rows: FirstRows): Seq[Int] = rows.positions.take(rows.size).toSeq

  test("those of lowest rank come out in the order of rank, of equal ranks the first positions") {
    forAll(most, Gen.listOf(ranks)) { (most, ofProbes) =>
      val rows = new FirstRows(most)
      for (ranks <- ofProbes) {
        rows.clear()
        val shuffled = scala.util.Random.shuffle(ranks.zipWithIndex)
        shuffled.foreach { case (rank, position) => rows.offer(position, rank) }
        rows.sort()
        assert(positions(rows) == ranks.zipWithIndex.sorted.take(most).map(_._2))
      }
    }
  }

  test("rows that come in order are kept until there are enough") {
    val rows = new FirstRows(20)
    (0 until 20).foreach { i =>
      assert(!rows.isFull)
      rows.add(i * 2)
    }
    assert(rows.isFull && positions(rows) == (0 until 20).map(_ * 2))
  }
}
