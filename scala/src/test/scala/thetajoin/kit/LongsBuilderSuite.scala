package thetajoin.kit

import org.scalatest.funsuite.AnyFunSuite

class LongsBuilderSuite extends AnyFunSuite {
  test(
    "numbers come back in order of arrival, also those that are added after they were asked for"
  ) {
    for (first <- Seq(0, 1, 64, 65, 32768, 32769, 70000); more <- Seq(0, 1, 40000, 70000)) {
      val numbers = new LongsBuilder
      (0 until first).foreach(i => numbers.add(i * 31L))
      assert(numbers.array.take(first).toSeq == (0 until first).map(_ * 31L))
      (first until first + more).foreach(i => numbers.add(i * 31L))
      assert(numbers.length == first + more)
      assert(numbers.array.take(numbers.length).toSeq == (0 until first + more).map(_ * 31L))
      val backwards = Array.range(0, first + more).reverse
      assert(numbers.inOrder(backwards).toSeq == backwards.toSeq.map(_ * 31L))
    }
  }
}
