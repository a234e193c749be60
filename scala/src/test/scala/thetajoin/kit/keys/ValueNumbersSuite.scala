package thetajoin.kit.keys

import scala.collection.mutable

import org.apache.spark.unsafe.Platform

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Values have the numbers that a map of Scala's gives them, and the look-up has the numbers that it is said to have. */
class ValueNumbersSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def assertNumbers[A](areLongs: Boolean, values: Seq[A], others: Seq[A])(
      numberOf: (NumberedValues, A) => Int
  ): Unit = {
    val (numbering, expected) = (new ValueNumbering(areLongs), mutable.HashMap.empty[A, Int])
    for (value <- values ++ values)
      assert(numberOf(numbering, value) == expected.getOrElseUpdate(value, expected.size), value)
    val numbers = numbering.result()
    assert(numbers.size == expected.size && numbering.size == expected.size)
    for ((value, number) <- expected)
      assert(numberOf(numbers, value) == numbering.renumbered(number), value)
    assert(expected.values.map(numbering.renumbered(_)).toSet == expected.values.toSet)
    assert(others.filterNot(expected.contains(_)).forall(numberOf(numbers, _) < 0))
    assert(numbering.renumbered(-1) == -1)
  }

  test("numbers of 64 bits") {
    val value = Gen.oneOf(Gen.choose(-9L, 9L), Gen.oneOf(Long.MinValue, Long.MaxValue), Gen.long)
    forAll(Gen.listOf(value), Gen.listOf(value)) { (values, others) =>
      assertNumbers(areLongs = true, values, others)(_.numberOf(_))
    }
    for (step <- Seq(1L, -1L, 1000L, 1L << 40)) {
      val values = Seq.tabulate(5000)(i => (i - 700) * step)
      assertNumbers(areLongs = true, values, values.map(_ + 1))(_.numberOf(_))
    }
  }

  test("bytes, at any place of an array") {
    val short = Gen.choose(0, 15).flatMap(Gen.listOfN(_, Gen.oneOf(Seq[Byte](0, 1, -1))))
    val value = Gen.oneOf(short, Gen.listOf(Gen.choose(Byte.MinValue, Byte.MaxValue)))
    def numberOf(values: NumberedValues, value: List[Byte]): Int = {
      val place = value.size % 5
      val bytes = Array.fill[Byte](place)(7) ++ value :+ 7.toByte
      values.numberOf(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + place, value.size)
    }
    for (values <- Seq(Gen.listOf(short), Gen.listOf(value)))
      forAll(values, Gen.listOf(value))(assertNumbers(areLongs = false, _, _)(numberOf))
    val many = List.tabulate(5000)(i => s"value $i".getBytes.toList)
    assertNumbers(areLongs = false, many, many.map(_ :+ 0.toByte))(numberOf)
    val long = many.map(_ ++ many.head)
    assertNumbers(areLongs = false, many ++ long, long.map(_ :+ 0.toByte))(numberOf)
  }
}
