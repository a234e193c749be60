package thetajoin.accelerator.boxes

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.LongType

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.KeyedIndexes
import thetajoin.contract.OrderedIndex

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
}
