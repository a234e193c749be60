package thetajoin.functions.spatial

import java.nio.{ByteBuffer, ByteOrder}

import org.locationtech.jts.geom._
import org.locationtech.jts.io.WKBWriter
import org.locationtech.jts.operation.relateng.{RelatePredicate, TopologyPredicate}
import org.scalacheck.Gen

/** Geometries of all kinds on a small grid, so that they touch, cross and coincide. */
trait Geometries {
  protected val factory = new GeometryFactory

  protected val ofJts: Map[Relation, () => TopologyPredicate] = Map(
    Relation.Contains -> (() => RelatePredicate.contains()),
    Relation.Within -> (() => RelatePredicate.within()),
    Relation.Covers -> (() => RelatePredicate.covers()),
    Relation.CoveredBy -> (() => RelatePredicate.coveredBy()),
    Relation.Intersects -> (() => RelatePredicate.intersects()),
    Relation.Touches -> (() => RelatePredicate.touches()),
    Relation.Crosses -> (() => RelatePredicate.crosses()),
    Relation.Overlaps -> (() => RelatePredicate.overlaps()),
    Relation.Equals -> (() => RelatePredicate.equalsTopo())
  )

  private val coordinate: Gen[Coordinate] =
    Gen.zip(Gen.choose(0, 6), Gen.choose(0, 6)).map { case (x, y) => new Coordinate(x, y) }

  protected val point: Gen[Geometry] = Gen.frequency(
    4 -> coordinate.map(factory.createPoint(_)),
    1 -> Gen.zip(Gen.choose(0.0, 6.0), Gen.choose(0.0, 6.0)).map { case (x, y) =>
      factory.createPoint(new Coordinate(x, y))
    }
  )

  protected val line: Gen[Geometry] = for {
    n <- Gen.choose(2, 5)
    positions <- Gen.listOfN(n, coordinate)
  } yield factory.createLineString(positions.toArray)

  /** A star around a middle, perhaps with a triangle cut out, so that it is valid. */
  protected val polygon: Gen[Geometry] = for {
    corners <- Gen.frequency(4 -> Gen.choose(3, 8), 1 -> Gen.choose(30, 700))
    x <- Gen.choose(0, 6)
    y <- Gen.choose(0, 6)
    lengths <- Gen.listOfN(corners, Gen.choose(0.8, 3.0))
    onGrid <- Gen.oneOf(true, false)
    hasHole <- Gen.oneOf(true, false)
  } yield {
    def corner(i: Int, length: Double) = {
      val angle = 2 * math.Pi * i / corners
      val (cx, cy) = (x + length * math.cos(angle), y + length * math.sin(angle))
      if (onGrid) new Coordinate(math.rint(cx), math.rint(cy)) else new Coordinate(cx, cy)
    }
    def ring(scale: Double) = {
      val open = lengths.zipWithIndex.map { case (length, i) => corner(i, length * scale) }
      factory.createLinearRing((open :+ open.head.copy()).toArray)
    }
    val holes = if (hasHole && !onGrid) Array(ring(0.4)) else Array.empty[LinearRing]
    val made = factory.createPolygon(ring(1.0), holes)
    if (made.isValid) made
    else factory.toGeometry(new Envelope(x.toDouble, x + 2.0, y.toDouble, y + 1.0))
  }

  /** Of no height, or of no area at all, but more than a point: JTS finds no edge of such a polygon. */
  private val flat: Gen[Geometry] = for {
    corners <- Gen.choose(2, 4)
    y <- Gen.choose(0, 6)
    slope <- Gen.choose(0, 1)
    xs <- Gen.listOfN(corners, Gen.choose(0, 6))
  } yield {
    val spread = xs.init :+ (if (xs.distinct.size == 1) xs.last + 1 else xs.last)
    val ring = (spread :+ spread.head).map(x => new Coordinate(x, y + slope * x))
    factory.createPolygon(if (ring.size < 4) (ring :+ ring.head).toArray else ring.toArray)
  }

  protected val multiPolygon: Gen[Geometry] = Gen.zip(polygon, polygon).map { case (a, b) =>
    val apart = b.copy()
    apart.apply((c: Coordinate) => c.setX(c.x + 9))
    apart.geometryChanged()
    factory.createMultiPolygon(Array(a, apart).map(_.asInstanceOf[Polygon]))
  }

  protected val geometry: Gen[Geometry] = Gen.frequency(
    4 -> point,
    3 -> line,
    5 -> polygon,
    1 -> multiPolygon,
    1 -> flat,
    1 -> Gen.listOfN(3, point).map(ps =>
      factory.createMultiPoint(ps.map(_.asInstanceOf[Point]).toArray)
    ),
    1 -> Gen.zip(point, line).map { case (p, l) =>
      factory.createGeometryCollection(Array(p, l))
    },
    1 -> Gen.oneOf(factory.createPoint(), factory.createPolygon(), factory.createLineString())
  )

  protected def wkb(geometry: Geometry): Array[Byte] = new WKBWriter().write(geometry)

  /** Of numbers in a byte order: whole ones of 32 bits, and doubles. */
  protected def bytes(order: ByteOrder, parts: Any*): Array[Byte] = {
    val buffer = ByteBuffer.allocate(1024).order(order)
    parts.foreach { part =>
      (part: @unchecked) match {
        case b: Byte => buffer.put(b)
        case i: Int => buffer.putInt(i)
        case d: Double => buffer.putDouble(d)
      }
    }
    buffer.array.take(buffer.position())
  }
}
