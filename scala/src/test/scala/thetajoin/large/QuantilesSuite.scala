package thetajoin.large

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class QuantilesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val values =
    Gen.listOf(Gen.oneOf(Gen.choose(-20L, 20L), Gen.oneOf(Long.MinValue, Long.MaxValue, 0L)))

  private def sampled(rows: Seq[Seq[Long]], width: Int) =
    new Sampled(rows.flatten.toArray, width, Array.fill(rows.size)(1.0))

  test("a value is in the range that starts at the last bound that is not above it") {
    forAll(values, values) { (some, asked) =>
      val bounds = some.distinct.sorted.toArray
      def range(value: Long) = bounds.count(_ <= value)
      for (value <- asked; other <- asked; crosses <- Seq(true, false)) {
        assert(RangeOf.of(bounds, value) == range(value))
        val isOne = range(value) == range(other) && !(bounds.isEmpty && crosses)
        val expected = if (isOne) range(value) else RangeOf.Several
        assert(RangeOf.of(bounds, value, other, crosses) == expected)
      }
    }
  }

  test("ranges have about as many rows of a side each") {
    val rows = (0L until 10000L).map(i => i * i)
    val bounds = new Quantiles(sampled(Nil, 1), sampled(rows.map(Seq(_)), 1)).bounds(20, 0)
    assert(bounds.length == 10)
    val sizes = rows.groupBy(RangeOf.of(bounds, _)).values.map(_.size)
    assert(sizes.size == 11 && sizes.min > 850 && sizes.max < 960)
  }

  test("a frequent value is in one range, and each bound stands once") {
    val rows = Seq.fill(1000)(7L) ++ (0L until 100L)
    val bounds = new Quantiles(sampled(rows.map(Seq(_)), 1), sampled(Nil, 1)).bounds(40, 0)
    assert(bounds.contains(7L) && bounds.distinct.length == bounds.length)
  }

  test("fewer bounds are taken where more rows would cross them, and none where two are too many") {
    def bounds(length: Long, most: Long) = {
      val rows = (0L until 1000L).map(i => Seq(i * 10, i * 10 + length))
      new Quantiles(sampled(rows, 2), sampled(Nil, 1)).bounds(64, most)
    }
    assert(bounds(length = 0, most = 0).length == 32)
    assert(bounds(length = 100, most = 310).length == 16)
    assert(bounds(length = 100, most = 40).length == 4)
    assert(bounds(length = 10000, most = 400).isEmpty)
  }
}
