package thetajoin.condition

import scala.util.{Random, Try}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import org.scalatest.funsuite.AnyFunSuite

/** Where two points are as near as asked, the comparisons hold that the distance implies, however it is written. */
class ArcSuite extends AnyFunSuite {
  private val rows = 20000
  private val random = new Random(12)

  private def columns(t: DataType): Seq[AttributeReference] =
    Seq("lat", "lon", "reach", "otherLat", "otherLon").map(AttributeReference(_, t)())

  private def double(e: Expression) = if (e.dataType == DoubleType) e else Cast(e, DoubleType)
  private def number(value: Double) = Literal(value)
  private def square(e: Expression) = Pow(e, number(2))
  private def squared(e: Expression) = Multiply(e, e)

  /** The ways to write the distance of an angle in radians, of both points' columns. */
  private def angles(c: Seq[AttributeReference]): Map[String, Expression] = {
    val Seq(lat, lon, _, otherLat, otherLon) = c: @unchecked
    def radians(e: Expression): Expression = ToRadians(double(e))
    def factor(e: Expression): Expression = Multiply(double(e), number(math.Pi / 180))
    def apart(l: Expression, r: Expression) = radians(Subtract(l, r))
    def half(l: Expression, r: Expression) = Sin(Divide(apart(l, r), number(2)))
    val cosines = Multiply(Cos(radians(lat)), Cos(radians(otherLat)))
    val haversine =
      Add(square(half(otherLat, lat)), Multiply(cosines, square(half(otherLon, lon))))
    val products = Add(
      squared(half(lat, otherLat)),
      Multiply(
        Multiply(Multiply(half(lon, otherLon), half(lon, otherLon)), Cos(radians(otherLat))),
        Cos(radians(lat))
      )
    )
    def versine(l: Expression, r: Expression) =
      Subtract(number(0.5), Multiply(number(0.5), Cos(Subtract(factor(l), factor(r)))))
    val versines = Add(
      versine(lat, otherLat),
      Multiply(versine(lon, otherLon), Multiply(Cos(factor(lat)), Cos(factor(otherLat))))
    )
    val cosine = Add(
      Multiply(Sin(radians(lat)), Sin(radians(otherLat))),
      Multiply(cosines, Cos(Subtract(radians(otherLon), radians(lon))))
    )
    val kept = Least(Seq(number(1), Greatest(Seq(number(-1), cosine))))
    val across = Add(
      square(Multiply(Cos(radians(otherLat)), Sin(apart(otherLon, lon)))),
      square(Subtract(
        Multiply(Cos(radians(lat)), Sin(radians(otherLat))),
        Multiply(
          Multiply(Sin(radians(lat)), Cos(radians(otherLat))),
          Cos(apart(otherLon, lon))
        )
      ))
    )
    def difference(f: (Expression, Expression) => Expression) =
      square(Subtract(f(radians(lat), radians(lon)), f(radians(otherLat), radians(otherLon))))
    val chord = Add(
      Add(
        difference((lat, lon) => Multiply(Cos(lat), Cos(lon))),
        difference((lat, lon) => Multiply(Cos(lat), Sin(lon)))
      ),
      difference((lat, _) => Sin(lat))
    )
    val two = number(2)
    Map(
      "haversine" -> Multiply(two, Asin(Sqrt(haversine))),
      "haversine up to one" -> Multiply(Asin(Least(Seq(number(1), Sqrt(haversine)))), two),
      "haversine by atan2" ->
        Multiply(two, Atan2(Sqrt(haversine), Sqrt(Subtract(number(1), haversine)))),
      "products of sines" -> Multiply(two, Asin(Pow(products, number(0.5)))),
      "versines" -> Multiply(two, Asin(Sqrt(versines))),
      "cosines" -> Acos(cosine),
      "cosines from -1 to 1" -> Acos(kept),
      "Vincenty" -> Atan2(Sqrt(across), cosine),
      "chord" -> Multiply(two, Asin(Divide(Sqrt(chord), two)))
    )
  }

  private val special = Seq(
    90,
    -90,
    180,
    -180,
    0,
    -0.0,
    89.999999999,
    179.9999999,
    45,
    1e7,
    1e300,
    Double.NaN,
    Double.PositiveInfinity,
    Double.NegativeInfinity
  )

  private def point(most: Double): (Any, Any) = (degrees(most), degrees(2 * most))

  private def degrees(most: Double): Any = random.nextInt(12) match {
    case 0 => special(random.nextInt(special.size))
    case 1 if random.nextInt(9) == 0 => null
    case 1 => random.nextGaussian() * math.pow(10, 2 + random.nextInt(5))
    case _ => (random.nextDouble() * 2 - 1) * most
  }

  /** Often next to the other value, half a turn away, or at the same place after many turns. */
  private def near(value: Any): Any = value match {
    case d: Double if random.nextInt(4) == 0 => d - 360 * math.rint(d / 180)
    case d: Double =>
      val by = Seq(0.0, 1e-13, 1e-7, 1e-4, 0.01, 1.0, 180.0, 360.0)
      d + by(random.nextInt(by.size)) * (random.nextDouble() * 2 - 1).sign
    case other => other
  }

  private def row(t: DataType): InternalRow = {
    val (lat, lon) = point(90)
    val (otherLat, otherLon) =
      if (random.nextBoolean()) point(90) else (near(lat), near(lon))
    val reach = random.nextInt(10) match {
      case 0 => null
      case 1 => special(random.nextInt(special.size))
      case _ => math.pow(10, random.nextInt(9) - 3) * random.nextDouble()
    }
    InternalRow(Seq(lat, lon, reach, otherLat, otherLon).map(of(t, _)): _*)
  }

  private def of(t: DataType, value: Any): Any = (t, value) match {
    case (_, null) | (DoubleType, _) => value
    case (_, number) => Try(Cast(Literal(number), t).eval()).getOrElse(null)
  }

  private val kilometres = Seq("a constant" -> None, "a column" -> Some(2))
  for {
    t <- Seq(DoubleType, FloatType, DecimalType(9, 6))
    name <- angles(columns(DoubleType)).keys.toSeq.sorted
    (reach, column) <- kilometres
  } test(s"$name of ${t.sql}, up to $reach") {
    val all = columns(t)
    val most = column.fold[Expression](number(2000))(n => double(all(n)))
    val condition = LessThanOrEqual(Multiply(number(6371), angles(all)(name)), most)
    val shape = ConditionAnalysis.shape(all.take(3), all.drop(3), Some(condition))
    assert(shape.comparisons.size == 6, shape)
    val schema = AttributeSeq(all)
    def bound(e: Expression) = BindReferences.bindReference(e, schema)
    val found =
      shape.comparisons.map(c => bound(c.operator.of(OrderedLong(c.left), OrderedLong(c.right))))
    val expected = bound(condition)
    var (matches, passed) = (0, 0)
    for (_ <- 1 to rows) {
      val values = row(t)
      val passes = found.forall(_.eval(values) == true)
      if (Try(expected.eval(values)).toOption.contains(true)) {
        matches += 1
        assert(passes, values)
      }
      if (passes) passed += 1
    }
    assert(matches > 100 && passed < rows * 3 / 4, s"$matches, $passed")
  }

  test("what is no distance on a sphere") {
    val all = columns(DoubleType)
    val Seq(lat, lon, _, otherLat, otherLon) = all.map(ToRadians(_)): @unchecked
    val product = Multiply(
      Multiply(Cos(lat), Cos(otherLat)),
      Cos(Subtract(lon, otherLon))
    )
    val sines = Multiply(Sin(lat), Sin(otherLat))
    for {
      angle <- Seq(
        Acos(Subtract(sines, product)),
        Acos(Add(Multiply(sines, number(1.001)), product)),
        Acos(Greatest(Seq(number(0), Add(sines, product)))),
        Acos(Least(Seq(number(0.5), Add(sines, product)))),
        Asin(Add(sines, product)),
        Acos(Multiply(sines, product)),
        Multiply(number(-1), Acos(Add(sines, product)))
      )
    } assert(Arc.unapply(angle).isEmpty, angle)
  }
}
