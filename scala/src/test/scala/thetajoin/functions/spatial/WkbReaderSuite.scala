package thetajoin.functions.spatial

import java.nio.ByteOrder.{BIG_ENDIAN, LITTLE_ENDIAN}

import org.locationtech.jts.io.{ByteOrderValues, WKBWriter}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class WkbReaderSuite extends AnyFunSuite with ScalaCheckPropertyChecks with Geometries {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  private val ends = Seq(BoxEnd.MinX, BoxEnd.MinY, BoxEnd.MaxX, BoxEnd.MaxY)
  private def box(value: Array[Byte]): Seq[Double] =
    ends.map(_.of(value, isInfiniteIfUnreadable = true))
  private val everywhere =
    Seq(
      Double.NegativeInfinity,
      Double.NegativeInfinity,
      Double.PositiveInfinity,
      Double.PositiveInfinity
    )

  private def why(value: Array[Byte]): String =
    intercept[UnreadableWkb](new Extremes(value)).why

  test("boxes are those of JTS, in both byte orders, with an SRID and a third coordinate") {
    forAll(geometry) { geometry =>
      geometry.setSRID(4326)
      val expected = geometry.getEnvelopeInternal
      for {
        order <- Seq(ByteOrderValues.BIG_ENDIAN, ByteOrderValues.LITTLE_ENDIAN)
        dimensions <- Seq(2, 3)
        hasSrid <- Seq(true, false)
      } {
        val value = new WKBWriter(dimensions, order, hasSrid).write(geometry)
        if (geometry.isEmpty) assert(box(value).forall(_.isNaN))
        else
          assert(
            box(value) ==
              Seq(expected.getMinX, expected.getMinY, expected.getMaxX, expected.getMaxY)
          )
      }
    }
  }

  test("what is cut off is unreadable, wherever it ends") {
    forAll(geometry) { geometry =>
      val value = wkb(geometry)
      for (length <- value.indices) {
        val cut = value.take(length)
        assert(why(cut) == "it ends too early")
        assert(box(cut) == everywhere)
        assert(ends.forall(_.of(cut, isInfiniteIfUnreadable = false).isNaN))
      }
    }
  }

  test("third and fourth coordinates as ISO numbers them") {
    for ((kind, more) <- Seq(1001 -> 1, 2001 -> 1, 3001 -> 2)) {
      val parts = Seq[Any](1.toByte, kind, 3.0, 4.0) ++ Seq.fill[Any](more)(9.0)
      assert(box(bytes(LITTLE_ENDIAN, parts: _*)) == Seq(3.0, 4.0, 3.0, 4.0))
      assert(why(bytes(LITTLE_ENDIAN, parts.dropRight(1): _*)) == "it ends too early")
    }
    val line = bytes(BIG_ENDIAN, 0.toByte, 1002, 2, 1.0, 2.0, 7.0, 5.0, -4.0, 8.0)
    assert(box(line) == Seq(1.0, -4.0, 5.0, 2.0))
  }

  test("unknown types, byte orders and parts, and coordinates that are not finite") {
    assert(why(bytes(LITTLE_ENDIAN, 1.toByte, 8, 0)) == "geometries of type 8 are not supported")
    assert(why(bytes(
      LITTLE_ENDIAN,
      1.toByte,
      4001,
      0
    )) == "geometries of type 4001 are not supported")
    assert(why(bytes(LITTLE_ENDIAN, 7.toByte, 1, 0.0, 0.0)) == "its byte order is 7, not 0 or 1")
    val mixed = bytes(LITTLE_ENDIAN, 1.toByte, 4, 1, 1.toByte, 2, 0)
    assert(why(mixed) == "a part of type 2 stands where 1 belongs")
    for (odd <- Seq(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity)) {
      val value = bytes(LITTLE_ENDIAN, 1.toByte, 1, 1.0, odd)
      assert(why(value) == s"it has the coordinates (1.0, $odd)")
      assert(box(value) == everywhere)
    }
    val nested = Seq.fill(200)(Seq[Any](1.toByte, 7, 1)).flatten
    assert(why(bytes(
      LITTLE_ENDIAN,
      nested.take(300): _*
    )) == "its collections are nested too deeply")
    assert(why(bytes(LITTLE_ENDIAN, 1.toByte, 2, -1)) == "it ends too early")
    assert(why(bytes(LITTLE_ENDIAN, 1.toByte, 2, Int.MaxValue)) == "it ends too early")
  }

  test("a point of two numbers is the point that JTS writes") {
    forAll(point) { point =>
      val (x, y) = (point.getCoordinate.x, point.getCoordinate.y)
      assert(box(StPoint.bytes(x, y)) == Seq(x, y, x, y))
      assert(ends.map(_.ofPoint(x, y, isInfiniteIfUnreadable = true)) == Seq(x, y, x, y))
    }
    assert(box(StPoint.bytes(Double.NaN, Double.NaN)).forall(_.isNaN))
    assert(box(wkb(factory.createPoint())).forall(_.isNaN))
  }
}
