package thetajoin.accelerator.vector

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Literal, UnsafeProjection}
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.Found
import thetajoin.condition.OrderedLong
import thetajoin.contract.{BatchProber, NarrowingProber, OrderedIndex, Prober}
import thetajoin.functions.vector.VectorFunctions

/** The index gives the rows that pass a bound, or that are the nearest, by the functions of SQL. */
class VectorsIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 100, sizeRange = 40)

  private type Vector = Seq[Any]

  private val measures = Seq[(String, (ArrayData, ArrayData) => java.lang.Float)](
    "cosine" -> (VectorFunctions.vectorCosineSimilarity(_, _, null)),
    "product" -> (VectorFunctions.vectorInnerProduct(_, _, null)),
    "distance" -> (VectorFunctions.vectorL2Distance(_, _, null))
  )

  /** As Spark 4.2 has them: sums of 32 bits. */
  private val singles = Seq[(String, (ArrayData, ArrayData) => java.lang.Float)](
    "cosine" -> { (a, b) =>
      val lengths = math.sqrt((dot(a, a).floatValue * dot(b, b).floatValue).toDouble).toFloat
      if (lengths < java.lang.Float.MIN_NORMAL) null else dot(a, b) / lengths
    },
    "product" -> dot,
    "distance" -> { (a, b) =>
      var sum = 0f
      for (i <- 0 until a.numElements()) {
        val difference = a.getFloat(i) - b.getFloat(i)
        sum += difference * difference
      }
      math.sqrt(sum.toDouble).toFloat
    }
  )

  private def dot(a: ArrayData, b: ArrayData): java.lang.Float = {
    var sum = 0f
    for (i <- 0 until a.numElements()) sum += a.getFloat(i) * b.getFloat(i)
    sum
  }

  private def asked(
      measure: String,
      isBounded: Boolean,
      most: Int,
      line: Line,
      areSingle: Boolean = false
  ) = Asked(
    measure == "cosine",
    measure == "distance",
    if (isBounded) line else null,
    if (most > 0) line else null,
    isDescending = isNearerIfMore(measure, line),
    most,
    areSingle,
    areRounded = false
  )

  private def isNearerIfMore(measure: String, line: Line) =
    (measure != "distance") == (line.sign > 0)

  private val types = Seq[DataType](LongType, ArrayType(FloatType), DoubleType)
  private val toRow = UnsafeProjection.create(types.toArray)

  private val toRowWithoutKey = UnsafeProjection.create(types.tail.toArray)

  private def row(keys: Int)(key: Long, vector: Vector, bound: Double): InternalRow = {
    val array = new GenericArrayData(vector)
    if (keys == 0) toRowWithoutKey(InternalRow(array, bound)).copy()
    else toRow(InternalRow(key, array, bound)).copy()
  }

  private def build(keys: Int, asked: Asked, rows: Seq[(Long, Vector)]): OrderedIndex = {
    val builder = VectorsSpec(keys, asked).newBuilder(types.takeRight(keys + 2))
    rows.foreach { case (key, vector) => builder.add(row(keys)(key, vector, 0)) }
    builder.finish()
  }

  /** The positions that a started prober gives, each once, while the join keeps the nearest of them. */
  private def allOf(prober: Prober, nearest: Seq[Int] => Option[Double], isDescending: Boolean) = {
    var found = Seq.empty[Int]
    while (prober.next()) {
      found ++= Found.run(prober)
      nearest(found).foreach { rank =>
        val number = OrderedLong(Literal(rank)).eval().asInstanceOf[Long]
        prober.asInstanceOf[NarrowingProber].narrow(if (isDescending) ~number else number)
      }
    }
    assert(found.distinct.size == found.size)
    found
  }

  /** Compares what an index gives with a loop over all rows; `passes` stands for other conditions of the join. */
  private def check(
      measure: String,
      rows: Seq[(Long, Vector)],
      probes: Seq[(Long, Vector, Double)],
      isBounded: Boolean,
      most: Int,
      line: Line,
      passes: (Int, Int) => Boolean = (_, _) => true,
      areSingle: Boolean = false,
      keys: Int = 1
  ): Int = {
    val what = asked(measure, isBounded, most, line, areSingle)
    def function(a: ArrayData, b: ArrayData) =
      if (Seq(a, b).exists(Coordinates.hasNull)) null
      else (if (areSingle) singles else measures).toMap.apply(measure)(a, b)
    val index = build(keys, what, rows)
    val comparable = rows.map { case (_, v) => new GenericArrayData(v): ArrayData }
    def value(i: Int, j: Int): Option[Double] =
      if (rows(j)._2.size != probes(i)._2.size) Some(Double.NaN)
      else
        Option(function(new GenericArrayData(probes(i)._2), comparable(j))).map(f =>
          line(f.doubleValue)
        )
    def isNear(a: Double, b: Double) = if (what.isDescending) a >= b else a <= b
    def isMatch(i: Int, j: Int) = (keys == 0 || rows(j)._1 == probes(i)._1) && passes(i, j) &&
      value(i, j).exists(v => !isBounded || v.isNaN || isNear(v, probes(i)._3))
    // NaN comes after all numbers.
    def sorted(values: Seq[Double]) = {
      val ascending = values.sorted(Ordering.Double.TotalOrdering)
      (if (what.isDescending) ascending.reverse else ascending).take(most)
    }
    def verify(i: Int, prober: Prober): Int = {
      def matches(positions: Seq[Int]) = positions.map(index.order(_)).filter(isMatch(i, _))
      def nearest(positions: Seq[Int]) = {
        val ranks = sorted(matches(positions).flatMap(value(i, _)))
        if (most > 0 && ranks.size == most) Some(ranks.last) else None
      }
      val found = allOf(prober, nearest, what.isDescending)
      val expected = rows.indices.filter(isMatch(i, _))
      if (most == 0) assert(expected.forall(matches(found).contains))
      else {
        val ranks = sorted(expected.flatMap(value(i, _)))
        assert(sorted(matches(found).flatMap(value(i, _))).map(_.toString) == ranks.map(_.toString))
      }
      found.size
    }
    val alone = index.index.newProber()
    probes.zipWithIndex.foreach { case ((key, vector, bound), i) =>
      alone.probe(row(keys)(key, vector, bound))
      verify(i, alone)
    }
    val batches = index.index.newBatchProber().get
    probes.indices.grouped(300).map { batch =>
      val groups = batch.map { i =>
        val (key, vector, bound) = probes(i)
        batches.group(row(keys)(key, vector, bound))
      }
      batch.zip(groups).filter(_._2 >= 0).sortBy(-_._2).map { case (i, group) =>
        batches.asInstanceOf[BatchProber].probe(group, 0L, 0L)
        verify(i, batches)
      }.sum
    }.sum
  }

  private val coordinates: Gen[Any] = Gen.frequency(
    60 -> Gen.oneOf(0f, 1f, -1f, 0.5f, 2f, 0.1f),
    60 -> Gen.choose(-1f, 1f),
    1 -> Gen.oneOf[Any](
      Float.NaN,
      Float.PositiveInfinity,
      null,
      3e38f,
      1e-44f,
      -2e19f,
      1e-23f,
      1e10f,
      -5e-11f
    )
  )

  test("drawn vectors, some of them strange") {
    val drawn = for {
      dimensions <- Gen.oneOf(1, 2, 3, 7, 16, 33)
      vector = Gen.frequency(
        40 -> Gen.listOfN(dimensions, coordinates),
        1 -> Gen.listOfN(dimensions + 1, coordinates),
        1 -> Gen.const(Seq.fill[Any](dimensions)(0f)),
        1 -> Gen.const(Nil)
      )
      key = Gen.frequency(3 -> Gen.const(1L), 1 -> Gen.choose(0L, 3L))
      rows <- Gen.listOf(Gen.zip(key, vector))
      probes <- Gen.listOf(Gen.zip(
        key,
        vector,
        Gen.frequency(
          6 -> Gen.choose(-1.0, 2.0),
          1 -> Gen.oneOf(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, 1e30)
        )
      ))
      isBounded <- Gen.oneOf(true, false)
      most <- if (isBounded) Gen.oneOf(0, 1, 3) else Gen.oneOf(1, 2, 5, 40)
      measure <- Gen.oneOf(measures.map(_._1))
      squares = if (measure == "distance") Seq(Line(1, 0, true), Line(-1, 0.5, true)) else Nil
      line <- Gen.oneOf(
        Seq((1, 0.0), (-1, 0.0), (-1, 1.0), (1, 0.25)).map { case (s, o) =>
          Line(s, o, false)
        } ++ squares
      )
    } yield (rows, probes, isBounded, most, line, measure)
    forAll(drawn) { case (rows, probes, isBounded, most, line, measure) =>
      check(measure, rows, probes, isBounded, most, line)
      check(measure, rows, probes, isBounded, most, line, areSingle = true)
      check(measure, rows, probes, isBounded, most, line, keys = 0)
      check(measure, rows, probes, isBounded, most, line, (i, j) => (i + j) % 3 == 0): Unit
    }
  }

  private def random(count: Int, dimensions: Int, seed: Int): Seq[Vector] = {
    val random = new Random(seed)
    Seq.fill(count)(Seq.fill(dimensions)(random.nextGaussian().toFloat))
  }

  test("few candidates of many vectors, and of all kinds of lengths") {
    for ((measure, _) <- measures; dimensions <- Seq(8, 200)) {
      val rows = random(150, dimensions, 1).map((1L, _))
      val probes = random(250, dimensions, 2).map((1L, _, 0.0))
      val line = Line(1, 0, isSquared = false)
      assert(check(measure, rows, probes, isBounded = false, 5, line) < 250 * 8)
      val few =
        check(measure, rows, probes, isBounded = false, 5, line, (i, j) => (i + j) % 5 == 0)
      assert(few < 250 * 90)
    }
  }

  test("equal vectors, and more candidates than are kept of a block") {
    val equal = Seq.fill(8000)((1L, Seq[Any](1f, 0.5f)))
    val probes = Seq.fill(200)((1L, Seq[Any](1f, 0.25f), -1.0))
    check("cosine", equal, probes.take(5), isBounded = false, 3, Line(1, 0, false))
    val index = build(1, asked("cosine", isBounded = true, 0, Line(1, 0, false)), equal)
    val prober = index.index.newBatchProber().get
    val groups = probes.map { case (key, vector, bound) =>
      prober.group(row(1)(key, vector, bound))
    }
    for (group <- groups.reverse) {
      prober.probe(group, 0L, 0L)
      assert(allOf(prober, _ => None, isDescending = false).size == equal.size)
    }
  }

  test("loops do without a Vector API that can't be linked") {
    assert(FastestProducts.linked(() => new SimdProducts).isInstanceOf[SimdProducts])
    val other = FastestProducts.linked(() => throw new NoSuchMethodError("of another JDK"))
    assert(other.isInstanceOf[LoopProducts])
  }

  test("products by loops, by the Vector API and by definition") {
    val random = new Random(3)
    for (dimensions <- Seq(1, 2, 3, 5, 64, 100, 193, 400); count <- Seq(1, 5, 6, 13)) {
      def floats(n: Int) = Array.fill(n)(random.nextFloat() - 0.5f)
      for (products <- Seq(new SimdProducts, new LoopProducts); panels <- 1 to products.panels) {
        val probes = floats(count * dimensions)
        val build = floats(panels * Products.LANES * dimensions + 7)
        val taken = floats(Products.LANES + 3)
        val out = new Array[Float](count * panels * Products.LANES)
        products.multiply(probes, count, dimensions, build, 7, panels, out)
        for (i <- 0 until count; panel <- 0 until panels) {
          val expected = (0 until Products.LANES).map { lane =>
            (0 until dimensions).map { d =>
              probes(i * dimensions + d).toDouble *
                build(7 + (panel * dimensions + d) * Products.LANES + lane)
            }.sum
          }
          val at = (i * panels + panel) * Products.LANES
          expected.zipWithIndex.foreach { case (e, lane) =>
            assert(math.abs(out(at + lane) - e) < 1e-4)
          }
          val bits = products.score(out, at, taken, 3, 0.5f, 0.1f)
          expected.zipWithIndex.foreach { case (e, lane) =>
            assert(math.abs(out(at + lane) - (e - taken(3 + lane) / 2)) < 1e-4)
            assert((bits >>> lane & 1) == (if (out(at + lane) >= 0.1f) 1 else 0))
          }
        }
      }
    }
  }
}
