package thetajoin.accelerator.existence

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class StaircaseSuite extends AnyFunSuite {
  private val random = new Random(5)

  private def values(range: Int): Seq[(Long, Long)] = Seq.fill(400)(
    if (random.nextInt(50) == 0) (Long.MinValue, Long.MaxValue)
    else (random.nextInt(range).toLong, random.nextInt(range).toLong)
  )

  private def isBeaten(pair: (Long, Long), by: (Long, Long)): Boolean =
    by._1 >= pair._1 && by._2 >= pair._2

  test("a pair is new if none before it has both numbers at least as high") {
    for (range <- Seq(1, 3, 20, 100000)) {
      val staircase = new Staircase()
      val seen = values(range)
      for (((x, y), i) <- seen.zipWithIndex)
        assert(staircase.isNew(x, y) == !seen.take(i).exists(isBeaten((x, y), _)))
    }
  }

  test("a full one tells fewer, and still each that no other beats is new") {
    for (most <- Seq(1, 2, 5)) {
      val staircase = new Staircase(most)
      val seen = values(1000)
      val kept = seen.filter { case (x, y) => staircase.isNew(x, y) }
      assert(kept.size < seen.size)
      assert(seen.forall(pair => kept.exists(isBeaten(pair, _))))
    }
  }
}
