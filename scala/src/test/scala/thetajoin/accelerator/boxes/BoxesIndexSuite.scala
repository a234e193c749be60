package thetajoin.accelerator.boxes

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{LongType, StringType}

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.{Found, KeyedIndexes}
import thetajoin.condition.OrderedLong
import thetajoin.contract.{NarrowingProber, OrderedIndex, Prober}

/** The index gives exactly the rows that a loop over all of them gives, each once. */
class BoxesIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks with KeyedIndexes {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 300)

  private def passes(strict: Seq[Boolean], build: Seq[Long], probe: Seq[Long]): Boolean =
    strict.indices.forall(i => if (strict(i)) build(i) > probe(i) else build(i) >= probe(i))

  /** Neighbours are the ends of a dimension; a last one is alone. */
  private def extents(bounds: Int): Seq[Extent] =
    (0 until bounds).grouped(2).map(ends => Extent(ends.head, ends.last)).toSeq

  /** Few rows, and so many that there are blocks of blocks. */
  private def data(bounds: Int): Gen[Seq[(Int, Seq[Long])]] = {
    val row = Gen.zip(Gen.choose(0, 2), Gen.listOfN(bounds, anyLong))
    Gen.frequency(
      6 -> Gen.listOf(row),
      2 -> manyOrOne(row)(_._1),
      1 -> Gen.choose(250, 600).flatMap(Gen.listOfN(_, row)),
      1 -> Gen.zip(Gen.choose(0, 600), row).map { case (n, row) => Seq.fill(n)(row) }
    )
  }

  test("any number of lower bounds from three on give the rows that a loop finds") {
    val generated = for {
      bounds <- Gen.choose(3, 7)
      data <- data(bounds)
      probes <- Gen.listOfN(20, Gen.listOfN(bounds, anyLong))
      strict <- Gen.listOfN(bounds, flags)
    } yield (data, probes, strict)
    forAll(keyTypes, generated) { case (types, (data, probes, strict)) =>
      val row = rows(types, strict.size)
      val built = build(
        BoxesSpec(types.size, strict, extents(strict.size)),
        types ++ strict.map(_ => LongType),
        data.map { case (key, values) => row(key, values) }
      )
      for (p <- probes ++ data.take(20).map(_._2); key <- 0 to 3) {
        val expected = data.indices.filter { i =>
          (types.isEmpty || data(i)._1 == key) && passes(strict, data(i)._2, p)
        }
        assert(candidates(built, row(key, p)).sorted == expected)
      }
    }
  }

  test("points and boxes are found among many boxes, some of them large") {
    val random = new scala.util.Random(7)
    val side = 1000000
    def box(): Seq[Long] = {
      def ends() = {
        val length = if (random.nextInt(100) == 0) random.nextInt(side) else random.nextInt(2000)
        val low = random.nextInt(side).toLong
        Seq(~low, low + length)
      }
      ends() ++ ends()
    }
    val boxes = IndexedSeq.fill(70000)(box())
    val row = rows(Nil, 4)
    val strict = Seq(false, true, true, false)
    val built = build(
      BoxesSpec(0, strict, extents(4)),
      Seq.fill(4)(LongType),
      boxes.map(row(0, _))
    )
    val points = Seq.fill(50)(Seq.fill(2)(random.nextInt(side).toLong).flatMap(v => Seq(~v, v)))
    // A box asks for the rows that begin before it ends.
    val asked =
      points ++ Seq.fill(50)(box().grouped(2).flatMap(ends => Seq(~ends(1), ~ends(0))).toSeq)
    for (p <- asked) {
      val expected = boxes.indices.filter(i => passes(strict, boxes(i), p))
      assert(candidates(built, row(0, p)).sorted == expected)
    }
  }

  test("rows that are near each other in the dimensions that tell them apart share blocks") {
    val random = new scala.util.Random(7)
    def value() = random.nextInt(1000000).toLong
    val dimensions = Seq(Extent(0, 1), Extent(2, 3), Extent(4, 4))

    /** How many rows a block of 16 spans in the first dimension, of all that there are. */
    def span(data: IndexedSeq[Seq[Long]], dimension: Int): Double = {
      val row = rows(Nil, 5)
      val spec = BoxesSpec(0, Seq.fill(5)(false), dimensions)
      val built: OrderedIndex =
        build(spec, Seq.fill(5)(LongType), data.map(row(0, _): InternalRow))
      val spans = built.order.grouped(16).map { block =>
        val values = block.map(i => data(i)(2 * dimension + 1))
        (values.max - values.min) / 1e6
      }.toSeq
      spans.sum / spans.size
    }
    def rowsOf(lengths: Long*) = IndexedSeq.fill(16384) {
      lengths.flatMap { length =>
        val low = value()
        Seq(~low, low + length)
      } :+ value()
    }
    // 1024 blocks: 32 in each direction, or all of them along the one in which rows are short.
    val square = rowsOf(10, 10)
    assert(span(square, dimension = 0) < 0.05)
    assert(span(square, dimension = 1) < 0.05)
    val points = rowsOf(0, 0)
    assert(span(points, dimension = 0) < 0.05)
    assert(span(points, dimension = 1) < 0.05)
    assert(span(rowsOf(10, 5000000), dimension = 0) < 0.005)
    assert(span(rowsOf(5000000, 10), dimension = 1) < 0.005)
  }

  test("the nearest rows are among the candidates, however the join narrows them") {
    val coordinate = Gen.frequency(
      6 -> Gen.choose(0, 40).map(_.toDouble),
      3 -> Gen.choose(-1000.0, 1000.0),
      1 -> Gen.oneOf(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, 1e308, 1e-300)
    )
    val box = Gen.zip(coordinate, Gen.frequency(2 -> Gen.const(0.0), 1 -> Gen.choose(0.0, 5.0)))
      .map { case (low, length) => (low, low + length) }
    val generated = for {
      dimensions <- Gen.choose(1, 3)
      row = Gen.zip(Gen.choose(0, 2), Gen.listOfN(dimensions, box), anyLong)
      data <-
        Gen.frequency(3 -> Gen.listOf(row), 1 -> Gen.choose(250, 700).flatMap(Gen.listOfN(_, row)))
      probes <- Gen.listOfN(10, Gen.zip(Gen.listOfN(dimensions, box), anyLong))
      most <- Gen.choose(1, 5)
      isSquared <- flags
    } yield (data, probes, most, isSquared)
    forAll(Gen.oneOf(Nil, Seq(LongType), Seq(StringType)), generated) {
      case (types, (data, probes, most, isSquared)) =>
        val dimensions = probes.head._1.size
        def ordered(e: Double) = OrderedLong.ofDouble(e)
        val row = rows(types, 1 + 2 * dimensions)
        val spec = BoxesSpec(
          types.size,
          Seq(true),
          Extent(0, 0) +: Seq.tabulate(dimensions)(d => Extent(2 * d + 1, 2 * d + 2)),
          distance =
            Some(RankedDistance(
              dimensions,
              isFloating = true,
              isSquared,
              unit = 1.0,
              math.pow(2, -46)
            ))
        )
        val built = build(
          spec,
          types ++ Seq.fill(1 + 2 * dimensions)(LongType),
          data.map { case (key, boxes, bound) =>
            row(key, bound +: boxes.flatMap { case (l, h) => Seq(~ordered(l), ordered(h)) })
          }
        )
        val prober = built.index.newProber().asInstanceOf[Prober with NarrowingProber]
        for ((boxes, bound) <- probes; key <- 0 to 3) {
          def rank(i: Int): Long = {
            val squares = boxes.zip(data(i)._2).map { case ((l, h), (low, high)) =>
              val gap = if (low > h) low - h
              else if (l > high) l - high else if (low.isNaN || l.isNaN) Double.NaN else 0.0
              gap * gap
            }
            ordered(if (isSquared) squares.sum else math.sqrt(squares.sum))
          }
          val matching =
            data.indices.filter(i => (types.isEmpty || data(i)._1 == key) && data(i)._3 > bound)
          prober.probe(row(
            key,
            bound +: boxes.flatMap { case (l, h) => Seq(ordered(l), ordered(h)) }
          ))
          var found = List.empty[Long]
          var seen = List.empty[Int]
          while (prober.next())
            for (position <- Found.run(prober)) {
              val i = built.order(position)
              assert(matching.contains(i) && !seen.contains(i))
              seen ::= i
              found = (rank(i) :: found).sorted.take(most)
              if (found.size == most) prober.narrow(found.last)
            }
          assert(found == matching.map(rank).sorted.take(most).toList)
        }
    }
  }

  test("of many rows few are looked at for the nearest") {
    val random = new scala.util.Random(3)
    def point() = Seq.fill(2)(random.nextDouble() * 1000)
    val data = IndexedSeq.fill(50000)(point())
    def ends(p: Seq[Double]) = p.map(OrderedLong.ofDouble)
    val row = rows(Nil, 4)
    val spec = BoxesSpec(
      0,
      Nil,
      Seq(Extent(0, 1), Extent(2, 3)),
      distance =
        Some(RankedDistance(2, isFloating = true, isSquared = true, unit = 1.0, math.pow(2, -46)))
    )
    val keyed = data.map(p => row(0, ends(p).flatMap(e => Seq(~e, e))))
    val built = build(spec, Seq.fill(4)(LongType), keyed)
    val prober = built.index.newProber().asInstanceOf[Prober with NarrowingProber]
    for (_ <- 0 until 100) {
      val p = point()
      def square(i: Int) = p.zip(data(i)).map { case (a, b) => (a - b) * (a - b) }.sum
      prober.probe(row(0, ends(p).flatMap(e => Seq(e, e))))
      var (nearest, looked) = (Double.PositiveInfinity, 0)
      while (prober.next())
        for (position <- Found.run(prober)) {
          nearest = math.min(nearest, square(built.order(position)))
          looked += 1
          prober.narrow(OrderedLong.ofDouble(nearest))
        }
      assert(nearest == data.indices.map(square).min)
      assert(looked < 200)
    }
  }
}
