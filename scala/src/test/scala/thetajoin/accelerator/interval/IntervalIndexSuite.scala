package thetajoin.accelerator.interval

import org.apache.spark.sql.types.LongType

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.{Found, KeyedIndexes}
import thetajoin.contract.ListProber

/** The indexes give exactly the rows that a loop over all of them gives, each once. */
class IntervalIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks with KeyedIndexes {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200)

  private def above(strict: Boolean, build: Long, probe: Long): Boolean =
    if (strict) build > probe else build >= probe

  test("two lower bounds give the rows that a loop finds") {
    val keyed = manyOrOne(Gen.zip(Gen.choose(0, 2), anyLong, anyLong))(_._1)
    forAll(keyTypes, keyed, Gen.listOfN(20, pairs), Gen.listOfN(2, flags)) {
      (types, data, probes, strict) =>
        val row = rows(types, 2)
        val input = data.map { case (key, first, second) => row(key, Seq(first, second)) }
        val spec =
          BothAtLeastSpec(types.size, strict.head, strict.last, isPoint = false, isLine = false)
        val built = build(spec, types ++ Seq(LongType, LongType), input)
        val asked = for ((p, q) <- probes ++ data.map(d => (d._2, d._3)); key <- 0 to 3) yield {
          val expected = data.indices.filter { i =>
            (types.isEmpty || data(i)._1 == key) &&
            above(strict.head, data(i)._2, p) && above(strict.last, data(i)._3, q)
          }
          assert(candidates(built, row(key, Seq(p, q))).sorted == expected)
          (row(key, Seq(p, q)), expected)
        }
        assert(inBatches(built, types.size, asked.map(_._1)) == asked.map(_._2))
    }
  }

  test("points give the rows that a loop finds, sorted and in any order") {
    val keyed = manyOrOne(Gen.zip(Gen.choose(0, 2), anyLong, anyLong))(_._1)
    // Many rows between neighbouring points, and few.
    val many =
      Gen.listOfN(1000, Gen.zip(Gen.const(0), Gen.choose(-2000L, 2000L), Gen.choose(-2000L, 2000L)))
    val points = Gen.frequency(3 -> anyLong, 1 -> Gen.choose(-2000L, 2000L))
    forAll(
      keyTypes,
      Gen.frequency(9 -> keyed, 1 -> many),
      Gen.listOfN(50, points),
      Gen.listOfN(2, flags)
    ) {
      (types, data, probes, strict) =>
        val row = rows(types, 2)
        val input = data.map { case (key, start, end) => row(key, Seq(~start, end)) }
        val spec =
          BothAtLeastSpec(types.size, strict.head, strict.last, isPoint = true, isLine = false)
        val built = build(spec, types ++ Seq(LongType, LongType), input)
        assert(built.index.newBatchProber().get.isInstanceOf[ListProber])
        val anyOrder = for (p <- probes; key <- 0 to 3) yield (key, p)
        for (order <- Seq(anyOrder, anyOrder.sorted, anyOrder.sortBy(_._2))) {
          val expected = order.map { case (key, p) =>
            data.indices.filter { i =>
              (types.isEmpty || data(i)._1 == key) &&
              above(strict.head, p, data(i)._2) && above(strict.last, data(i)._3, p)
            }
          }
          val asked = order.map { case (key, p) => row(key, Seq(~p, p)) }
          assert(inBatches(built, types.size, asked) == expected)
        }
    }
  }

  test("runs and sets of intervals give the rows that a loop finds") {
    val line = Gen.oneOf(Gen.choose(-20L, 20L), Gen.choose(-2000L, 2000L), anyLong)
    val ordered = Gen.zip(line, line).map { case (a, b) => (math.min(a, b), math.max(a, b)) }
    // Few rows end ahead of their start.
    val interval = Gen.frequency(50 -> ordered, 1 -> Gen.zip(line, line))
    val sizes = Gen.oneOf(0, 1, 3, 20, 300)
    val keyed = sizes.flatMap(Gen.listOfN(_, Gen.zip(Gen.choose(0, 2), interval)))
    forAll(keyTypes, keyed, Gen.listOfN(30, interval), Gen.listOfN(2, flags)) {
      (types, data, probes, strict) =>
        val row = rows(types, 2)
        val input = data.map { case (key, (start, end)) => row(key, Seq(end, ~start)) }
        val spec =
          BothAtLeastSpec(types.size, strict.head, strict.last, isPoint = false, isLine = true)
        val built = build(spec, types ++ Seq(LongType, LongType), input)
        val sets = built.index.positionSets.get
        val inSet = (0 until sets.count).map { set =>
          val rows = built.order.indices.filter(p => sets.first(p) <= set && set < sets.end(p))
          assert(rows.isEmpty || sets.rows(set) == rows.size)
          rows
        }
        val prober = sets.newProber()
        val asked = probes ++ data.map(_._2) ++ probes.map(p => (p._1, p._1))
        for ((from, to) <- asked; key <- 0 to 3) {
          prober.probe(row(key, Seq(from, ~to)))
          val found = Found.all(prober).flatMap { p =>
            if (p < built.order.length) Seq(p) else inSet(p - built.order.length)
          }
          val expected = data.indices.filter { i =>
            val (k, (start, end)) = data(i)
            (types.isEmpty || k == key) &&
            above(strict.head, end, from) && above(strict.last, to, start)
          }
          assert(found.map(built.order(_)).sorted == expected)
        }
    }
  }

  test("one value between bounds gives the rows that a loop finds") {
    val keyed = manyOrOne(Gen.zip(Gen.choose(0, 2), anyLong))(_._1)
    val bound = Gen.option(flags)
    forAll(keyTypes, keyed, Gen.listOfN(20, pairs), bound, bound) {
      (types, data, probes, lower, upper) =>
        val spec = BetweenSpec(types.size, lower, upper)
        val row = rows(types, 1)
        val built = build(spec, types :+ LongType, data.map { case (k, v) => row(k, Seq(v)) })
        val bounds = lower.size + upper.size
        val probe = rows(types, bounds)
        for ((p, q) <- probes ++ data.map(d => (d._2, d._2)); key <- 0 to 3) {
          val expected = data.indices.filter { i =>
            (types.isEmpty || data(i)._1 == key) &&
            lower.forall(above(_, data(i)._2, p)) && upper.forall(above(_, q, data(i)._2))
          }
          val numbers = lower.map(_ => p) ++ upper.map(_ => q)
          if (types.nonEmpty || bounds > 0) {
            val asked = probe(key, numbers.toSeq)
            assert(candidates(built, asked).sorted == expected)
            assert(inBatches(built, types.size, Seq(asked)) == Seq(expected))
          }
        }
    }
  }

  test("a tree of many numbers finds what a loop over them finds") {
    val random = new scala.util.Random(11)
    for (size <- Seq(1, 15, 16, 17, 255, 256, 257, 5000); largest <- Seq(3, 1000, 1000000)) {
      val numbers = Array.fill(size)(random.nextInt(largest).toLong)
      val inner = Seq.fill(random.nextInt(6))(random.nextInt(size + 1))
      val starts = (Seq(0, size) ++ inner).sorted.toArray
      val tree = MaxTree(numbers, starts)
      for (_ <- 1 to 2000) {
        val segment = random.nextInt(starts.length - 1)
        val until = starts(segment + 1)
        val from = starts(segment) + random.nextInt(until - starts(segment) + 1)
        val least = random.nextInt(largest + 1).toLong
        val expected = (from until until).find(numbers(_) >= least).getOrElse(until)
        assert(tree.next(from, until, least) == expected)
        val end = (from until until).find(numbers(_) < least).getOrElse(until)
        assert(tree.endOfRun(from, until, least) == end)
      }
    }
  }

  test("a run is a stretch of memory: equal first values stand in order of arrival") {
    val row = rows(Nil, 2)
    val input = Seq(3L, 1L, 3L, 1L, 2L).map(v => row(0, Seq(v, 0L)))
    val built = build(
      BothAtLeastSpec(
        0,
        isFirstStrict = false,
        isSecondStrict = false,
        isPoint = false,
        isLine = false
      ),
      Seq(LongType, LongType),
      input
    )
    assert(built.order.toSeq == Seq(1, 3, 4, 0, 2))
  }
}
