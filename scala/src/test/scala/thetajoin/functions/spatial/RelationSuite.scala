package thetajoin.functions.spatial

import java.nio.ByteOrder.LITTLE_ENDIAN

import org.locationtech.jts.algorithm.locate.IndexedPointInAreaLocator
import org.locationtech.jts.geom.{Coordinate, Geometry, Location}
import org.locationtech.jts.operation.distance.DistanceOp
import org.locationtech.jts.operation.relateng.RelateNG
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** What is answered without JTS is what JTS answers. */
class RelationSuite extends AnyFunSuite with ScalaCheckPropertyChecks with Geometries {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1500)

  private def shape(geometry: Geometry, isReused: Boolean): Shape = Shape(wkb(geometry), isReused)

  test("relations are those of JTS, whichever geometry is prepared; empty ones have none") {
    forAll(geometry, geometry) { (a, b) =>
      for {
        relation <- Relation.all
        (leftReused, rightReused) <- Seq((false, false), (true, false), (false, true))
      } {
        val expected = !a.isEmpty && !b.isEmpty && RelateNG.relate(a, b, ofJts(relation)())
        val (left, right) = (shape(a, leftReused), shape(b, rightReused))
        assert(relation.holds(left, right) == expected, s"${relation.name} of $a and $b")
        assert(relation.holds(left, right) == expected, "asked again")
        assert(relation.swapped.holds(right, left) == expected)
      }
    }
  }

  test("boxes of related geometries compare as is said of the relation") {
    forAll(geometry, geometry) { (a, b) =>
      val (left, right) = (wkb(a), wkb(b))
      for (relation <- Relation.all)
        if (relation.holds(shape(a, isReused = false), shape(b, isReused = false)))
          for ((leftEnd, operator, rightEnd) <- relation.boxes) {
            val compared = leftEnd.of(left, isInfiniteIfUnreadable = true)
              .compare(rightEnd.of(right, isInfiniteIfUnreadable = true))
            assert(if (operator.isBelow) compared <= 0 else compared >= 0)
          }
    }
  }

  test(
    "points lie where JTS finds them, also on corners and edges, in rings that are open or cross themselves"
  ) {
    forAll(polygon, polygon) { (a, b) =>
      val crossing = factory.createMultiPolygon(
        Array(a, b).map(_.asInstanceOf[org.locationtech.jts.geom.Polygon])
      )
      for (area <- Seq(a, crossing)) {
        val found = Edges(wkb(area), areRings = true)
        val expected = new IndexedPointInAreaLocator(area)
        val corners = area.getCoordinates.take(50).toSeq
        val between = corners.zip(corners.drop(1)).map { case (p, q) =>
          new Coordinate((p.x + q.x) / 2, (p.y + q.y) / 2)
        }
        val grid = for (x <- 0 to 6; y <- 0 to 6) yield new Coordinate(x, y)
        for (p <- corners ++ between ++ grid) {
          val location = expected.locate(p) match {
            case Location.INTERIOR => RayCrossings.Inside
            case Location.BOUNDARY => RayCrossings.OnEdge
            case _ => RayCrossings.Outside
          }
          // The text of an area takes longer than the answer.
          if (found.locate(p.x, p.y) != location) fail(s"$p in $area is $location")
        }
      }
    }
    val open = bytes(LITTLE_ENDIAN, 1.toByte, 3, 1, 3, 0.0, 0.0, 4.0, 0.0, 0.0, 4.0)
    assert(Edges(open, areRings = true).locate(1, 1) == RayCrossings.Inside)
    assert(Edges(open, areRings = true).locate(0, 2) == RayCrossings.OnEdge)
    assert(Edges(open, areRings = true).locate(3, 3) == RayCrossings.Outside)
  }

  test("distances are those of JTS, and none is shorter than that of the boxes") {
    forAll(geometry, geometry) { (a, b) =>
      if (!a.isEmpty && !b.isEmpty) {
        val (left, right) = (shape(a, isReused = false), shape(b, isReused = true))
        val distance = left.distance(right)
        assert(distance == DistanceOp.distance(a, b))
        val away = math.max(left.minX - right.maxX, right.minX - left.maxX)
        assert(distance >= away - 1e-12)
      }
    }
  }
}
