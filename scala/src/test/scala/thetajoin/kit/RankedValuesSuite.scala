package thetajoin.kit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.KeyedIndexes
import thetajoin.accelerator.interval.{BetweenSpec, BothAtLeastSpec}
import thetajoin.condition.OrderedLong

/** Indexes of numbers serve values of other types: they give the rows that a loop over all of them gives. */
class RankedValuesSuite extends AnyFunSuite with ScalaCheckPropertyChecks with KeyedIndexes {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 100)

  private val point = StructType.fromDDL("x INT, y STRING")
  private val pair = StructType.fromDDL("x DOUBLE, y BIGINT, z SMALLINT")
  private val numbers = StructType.fromDDL("x BIGINT, y BOOLEAN, z DECIMAL(9, 2)")
  private val far: Gen[Long] =
    Gen.oneOf(Gen.choose(-3L, 3L), Gen.oneOf(Long.MinValue, Long.MaxValue, 1L << 40))
  private val double: Gen[Double] =
    Gen.oneOf(0.0, -0.0, 1.5, -1.5, Double.NaN, Double.PositiveInfinity, -1e300)
  private val lowerCase = StringType("UTF8_LCASE")

  /** Short ones, and ones that differ after their first eight bytes. */
  private val text: Gen[UTF8String] = for {
    start <- Gen.oneOf("", "a", "long prefix ", "\u00e9\u00e9", "\u0000")
    end <- Gen.listOf(Gen.oneOf('a', 'B', 'b', '\u0000', '\u00ff')).map(_.take(4).mkString)
  } yield UTF8String.fromString(start + end)

  private val values: Seq[(DataType, Gen[Any])] = Seq(
    StringType -> text,
    lowerCase -> text,
    BinaryType -> text.map(_.getBytes),
    DecimalType(38, 4) -> Gen.zip(Gen.long, Gen.choose(0, 12)).map { case (n, power) =>
      Decimal(BigDecimal(BigInt(n) * BigInt(10).pow(power), 4), 38, 4)
    },
    DecimalType(38, 10) -> Gen.zip(Gen.choose(-5, 5), Gen.frequency(9 -> 0, 1 -> 1, 1 -> -1)).map {
      case (n, more) => Decimal(BigDecimal((BigInt(n) << 70) + (BigInt(more) << 8), 10), 38, 10)
    },
    DecimalType(20, 0) -> Gen.choose(-5L, 5L).map(n => Decimal(BigDecimal(n), 20, 0)),
    point -> Gen.zip(Gen.option(Gen.choose(-2, 2)), Gen.option(text)).map { case (x, y) =>
      InternalRow(x.orNull, y.orNull)
    },
    pair -> Gen.zip(Gen.option(double), Gen.option(far), Gen.choose(-2, 2)).map { case (x, y, z) =>
      InternalRow(x.orNull, y.orNull, z.toShort)
    },
    numbers -> Gen.zip(Gen.option(Gen.choose(-3L, 3L)), flags, Gen.choose(-4, 4)).map {
      case (x, y, z) => InternalRow(x.orNull, y, Decimal(z.toLong, 9, 2))
    },
    ArrayType(DoubleType) -> Gen.listOf(Gen.oneOf(0.0, -0.0, 1.5, Double.NaN)).map(list =>
      new org.apache.spark.sql.catalyst.util.GenericArrayData(list.take(3).toArray[Any])
    )
  )

  for ((t, value) <- values) {
    val order = ValueOrder.at(0, t)
    def compare(a: Any, b: Any): Int = order.compare(InternalRow(a), InternalRow(b))
    def row(types: Seq[DataType]): Seq[Any] => InternalRow = {
      val toUnsafe = UnsafeProjection.create(types.toArray)
      (values: Seq[Any]) => toUnsafe(InternalRow(values: _*)).copy()
    }

    test(s"one value of ${t.sql} between bounds") {
      forAll(
        Gen.listOf(Gen.zip(Gen.choose(0, 1), value)),
        Gen.listOfN(10, Gen.zip(value, value)),
        flags,
        flags
      ) {
        (data, probes, lower, upper) =>
          val inner = BetweenSpec(1, Some(lower), Some(upper))
          val columns =
            Seq(RankedColumn(1, 1, isNegated = false), RankedColumn(2, 1, isNegated = false))
          val types = Seq(LongType, t, t)
          val spec = RankedSpec(inner, columns.take(1), columns, KeyTypes(types))
          val ofBuild = row(types.take(2))
          val built =
            build(spec, types.take(2), data.map { case (k, v) => ofBuild(Seq(k.toLong, v)) })
          for ((low, high) <- probes ++ data.map(d => (d._2, d._2))) {
            val expected = data.indices.filter { i =>
              val (key, v) = data(i)
              key == 0 && compare(v, low) >= (if (lower) 1 else 0) &&
              compare(v, high) <= (if (upper) -1 else 0)
            }
            assert(candidates(built, row(types)(Seq(0L, low, high))).sorted == expected)
          }
      }
    }

    test(s"bounds of ${t.sql} around a value") {
      forAll(Gen.listOf(Gen.zip(value, value)), Gen.listOfN(10, value), flags, flags) {
        (data, probes, first, second) =>
          val inner = BothAtLeastSpec(0, first, second, isPoint = true, isLine = false)
          val columns =
            Seq(RankedColumn(0, 0, isNegated = true), RankedColumn(1, 1, isNegated = false))
          val types = Seq(t, t)
          val spec = RankedSpec(inner, columns, columns, KeyTypes(types))
          val built =
            build(spec, types, data.map { case (low, high) => row(types)(Seq(low, high)) })
          for (v <- probes ++ data.flatMap(d => Seq(d._1, d._2))) {
            val expected = data.indices.filter { i =>
              compare(data(i)._1, v) <= (if (first) -1 else 0) &&
              compare(data(i)._2, v) >= (if (second) 1 else 0)
            }
            assert(candidates(built, row(types)(Seq(v, v))).sorted == expected)
          }
      }
    }
  }

  test("bounds of a first field are below or above the structs that have it") {
    for ((t, value) <- values.filter(v => v._1 == pair || v._1 == numbers))
      forAll(Gen.listOf(value), Gen.listOf(value), flags) { (data, others, isAbove) =>
        assertBounds(
          t.asInstanceOf[StructType],
          data,
          (data ++ others).flatMap(first(t, _)),
          isAbove
        )
      }
  }

  test("a first field whose numbers take all of its bits") {
    // The codes of 0 to 1020 are 2 to 1022, and those of the second field have the other 52 bits.
    val full = StructType.fromDDL("x BIGINT, y BIGINT")
    for (greatest <- 1015L to 1025L; rest <- 40 to 60; isAbove <- Seq(false, true)) {
      val data = Seq(InternalRow(0L, 0L), InternalRow(greatest, (1L << rest) - 5))
      assertBounds(full, data, Seq(-1L, 0L, greatest, greatest + 1, Long.MaxValue), isAbove)
    }
    val single = StructType.fromDDL("x BIGINT")
    for (less <- 0L to 8L; isAbove <- Seq(false, true)) {
      val greatest = (1L << 62) - less
      val data = Seq(InternalRow(0L), InternalRow(greatest))
      assertBounds(single, data, Seq(-1L, 0L, greatest, greatest + 1, Long.MaxValue), isAbove)
    }
  }

  private def first(t: DataType, value: Any): Option[Long] = {
    val read = OrderedLong.reader(t.asInstanceOf[StructType].head.dataType)
    Some(value.asInstanceOf[InternalRow]).filterNot(_.isNullAt(0)).map(read.at(_, 0))
  }

  /** Structs whose first field is above the bound, or at least as much. */
  private def assertBounds(
      t: StructType,
      data: Seq[Any],
      bounds: Seq[Long],
      isAbove: Boolean
  ): Unit = {
    val ranked = RankedColumn(0, 0, isNegated = false)
    val spec = RankedSpec(
      BetweenSpec(0, Some(false), None),
      Seq(ranked),
      Seq(ranked.copy(isAbove = Some(isAbove))),
      KeyTypes(Seq(LongType))
    )
    val ofBuild = UnsafeProjection.create(Array[DataType](t))
    val ofProbe = UnsafeProjection.create(Array[DataType](LongType))
    val built = build(spec, Seq(t), data.map(v => ofBuild(InternalRow(v)).copy()))
    for (bound <- bounds) {
      val expected = data.indices.filter { i =>
        first(t, data(i)).exists(f => f > bound || !isAbove && f == bound)
      }
      assert(candidates(built, ofProbe(InternalRow(bound))).sorted == expected)
    }
  }
}
