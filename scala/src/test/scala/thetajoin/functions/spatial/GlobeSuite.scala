package thetajoin.functions.spatial

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** The straight line between two points is not longer than their geodesic. */
class GlobeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 20000)

  private val longitude = Gen.oneOf(
    Gen.choose(-180.0, 180.0),
    Gen.choose(-1e6, 1e6),
    Gen.oneOf(-180.0, 180.0, 0.0, -0.0, 90.0, 179.9999999, 1e15)
  )
  private val latitude = Gen.oneOf(
    Gen.choose(-90.0, 90.0),
    Gen.oneOf(-90.0, 90.0, 0.0, -0.0, 89.99999999, -89.9999)
  )
  private val globes = Gen.oneOf(Globe.Sphere, Globe.Spheroid)
  private val point = Gen.zip(longitude, latitude)

  /** A point with another one: near it, near the opposite point, the same, or any. */
  private val points = for {
    (lon, lat) <- point
    away <- Gen.oneOf(0.0, 1e-12, 1e-7, 1e-4, 0.01, 1.0)
    (east, north) <- Gen.zip(Gen.choose(-away, away), Gen.choose(-away, away))
    other <- Gen.oneOf(
      point,
      Gen.const((lon + east, (lat + north).max(-90).min(90))),
      Gen.const((lon + 180 + east, (-lat + north).max(-90).min(90)))
    )
  } yield ((lon, lat), other)

  private def space(globe: Globe, point: (Double, Double)): Seq[Double] =
    Seq(0, 1, 2).map(globe.coordinate(point._1, point._2, _))

  private def distance(globe: Globe, a: (Double, Double), b: (Double, Double)): Double =
    globe.distance(a._1, a._2, b._1, b._2)

  test("the straight line is not longer, but for less than an index allows") {
    forAll(points, globes) { case ((a, b), globe) =>
      val straight =
        math.sqrt(space(globe, a).zip(space(globe, b)).map { case (x, y) => (x - y) * (x - y) }.sum)
      val geodesic = distance(globe, a, b)
      assert(straight <= geodesic + 2e-8, (a, b))
      assert(geodesic <= straight * math.Pi / 2 * 1.004 + 2e-8, (a, b))
    }
  }

  test("it is the same in both directions, and zero from a point to itself") {
    forAll(points, globes) { case ((a, b), globe) =>
      assert(math.abs(distance(globe, a, b) - distance(globe, b, a)) < 2e-8)
      assert(distance(globe, a, a) == 0)
    }
  }

  test("coordinates of well-known binary are those of a point's numbers") {
    forAll(point, globes) { case ((lon, lat), globe) =>
      for {
        axis <- Seq(0, 1, 2)
        end = EarthEnd(globe, axis, isLow = true)
        isTry <- Seq(true, false)
      } {
        val expected = globe.coordinate(lon, lat, axis)
        assert(math.abs(expected) <= globe.radius)
        assert(end.ofPoint(lon, lat, !isTry) == expected)
        assert(end.of(WkbReader.pointBytes(lon, lat), !isTry) == expected)
      }
    }
  }

  test("what is no place has all coordinates, or none") {
    val line = Conversion.FromText("LINESTRING (0 0, 1 1)", isTry = false)
    val empty = Conversion.FromText("LINESTRING EMPTY", isTry = false)
    for (axis <- Seq(0, 1, 2)) {
      val ends = Seq(true, false).map(EarthEnd(Globe.Sphere, axis, _))
      for (value <- Seq(line, WkbReader.pointBytes(0, 91), Array[Byte](1, 2))) {
        def numbers(isInfinite: Boolean) =
          ends.map(_.of(value.asInstanceOf[Array[Byte]], isInfinite))
        assert(numbers(isInfinite = true) == Seq(Double.NegativeInfinity, Double.PositiveInfinity))
        assert(numbers(isInfinite = false).forall(_.isNaN))
      }
      assert(ends.forall(_.of(empty.asInstanceOf[Array[Byte]], true).isNaN))
      assert(ends.forall(_.ofPoint(Double.NaN, Double.NaN, true).isNaN))
    }
  }
}
