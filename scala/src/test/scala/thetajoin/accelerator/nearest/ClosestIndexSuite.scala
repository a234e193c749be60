package thetajoin.accelerator.nearest

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.LongType

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.KeyedIndexes
import thetajoin.condition.OrderedLong
import thetajoin.contract.{NarrowingProber, OrderedIndex}

class ClosestIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks with KeyedIndexes {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200)

  private val strictness = Gen.option(flags)
  private val keyed = manyOrOne(Gen.zip(Gen.choose(0, 2), anyLong))(_._1)

  private def isIn(value: Long, lower: Option[(Long, Boolean)], upper: Option[(Long, Boolean)]) =
    lower.forall { case (bound, strict) => value > bound || value == bound && !strict } &&
      upper.forall { case (bound, strict) => value < bound || value == bound && !strict }

  test("candidates come in the order of their distance, those of a loop, or the first of them") {
    forAll(keyTypes, keyed, Gen.listOfN(20, pairs), Gen.zip(strictness, strictness), flags) {
      case (types, data, probes, (lower, upper), isFirst) =>
        val spec = ClosestSpec(types.size, lower, upper, isFloating = false)
        val asked = if (isFirst) spec.forOne else spec
        val (ofBuild, ofProbe) = (rows(types, 1), rows(types, 1 + lower.size + upper.size))
        val built = build(asked, types :+ LongType, data.map(d => ofBuild(d._1, Seq(d._2))))
        for ((center, from) <- probes ++ data.map(d => (d._2, d._2 - 3)); key <- 0 to 3) {
          val until = if (center > Long.MaxValue - 5) Long.MaxValue else center + 5
          val matches = data.indices.filter { i =>
            (types.isEmpty || data(i)._1 == key) &&
            isIn(data(i)._2, lower.map((from, _)), upper.map((until, _)))
          }
          val numbers = center +: (lower.map(_ => from) ++ upper.map(_ => until)).toSeq
          val found = candidates(built, ofProbe(key, numbers))
          def away(i: Int) = (BigInt(data(i)._2) - BigInt(center)).abs -> data(i)._2
          val ranks = found.map(away)
          assert(ranks == matches.map(away).sorted.take(if (isFirst) 1 else matches.size))
          assert(found.distinct.size == found.size && found.forall(matches.contains))
        }
    }
    assert(lookups.toSet == Set[Class[_]](classOf[FirstClosest]))
  }

  test("floating-point numbers are as far apart as Spark says, which has NaN as the greatest") {
    val special =
      Gen.oneOf(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, 0.0, Double.MaxValue)
    val doubles = Gen.listOf(Gen.oneOf(special, Gen.choose(-9.0, 9.0)))
    forAll(doubles, doubles) { (data, probes) =>
      val spec = ClosestSpec(keys = 0, None, None, isFloating = true)
      val row = rows(Nil, 1)
      def key(d: Double) = row(0, Seq(OrderedLong.ofDouble(d)))
      for (asked <- Seq(spec, spec.forOne)) {
        val built = build(asked, Seq(LongType), data.map(key))
        for (center <- probes) {
          def away(d: Double) = if (d > center) d - center else center - d
          val expected = data.map(away).sorted(Ordering.Double.TotalOrdering)
          val found = candidates(built, key(center)).map(i => away(data(i)))
          val asGiven = if (asked == spec) expected else expected.take(1)
          assert(found.size == asGiven.size)
          assert(found.zip(asGiven).forall { case (a, b) => java.lang.Double.compare(a, b) == 0 })
        }
      }
    }
  }

  /** Told the rank of each candidate, as the driver tells it. */
  private def least(built: OrderedIndex, key: InternalRow)(rank: Int => Long): Option[Long] = {
    val prober = built.index.newProber()
    prober.probe(key)
    Iterator.continually(prober.next()).takeWhile(identity).foldLeft(Option.empty[Long]) {
      (least, _) =>
        val now = (prober.from until prober.until).map(i => rank(built.order(i))).min
        val next = least.fold(now)(math.min(_, now))
        prober.asInstanceOf[NarrowingProber].narrow(next)
        Some(next)
    }
  }

  test(
    "the lowest rank is found where distances wrap around, and where they are below zero within the doubt"
  ) {
    val bytes = Gen.choose(-128L, 127L)
    forAll(keyTypes, Gen.listOf(Gen.zip(Gen.choose(0, 2), bytes)), bytes, Gen.option(bytes)) {
      case (types, data, center, doubted) =>
        val doubt = doubted.map(_.abs)
        val wraps = if (doubt.isEmpty) Some(127L) else None
        val spec = ClosestSpec(types.size, None, None, isFloating = false, doubt.isDefined, wraps)
        val (ofBuild, ofProbe) = (rows(types, 1), rows(types, 1 + doubt.size))
        val built = build(spec, types :+ LongType, data.map(d => ofBuild(d._1, Seq(d._2))))
        def rank(value: Long) = doubt match {
          case Some(most) =>
            val away = (center - value).abs
            if (away <= most && value % 2 == 0) -away else away
          case None => (center - value).toByte.toLong.abs
        }
        for (key <- 0 to 2) {
          val expected = data.collect { case (k, v) if types.isEmpty || k == key => rank(v) }
          val found = least(built, ofProbe(key, center +: doubt.toSeq))(i => rank(data(i)._2))
          assert(found == expected.minOption)
        }
    }
  }

  test("rows that are farther away than the lowest rank are not given") {
    val spec = ClosestSpec(keys = 0, None, None, isFloating = false, wraps = Some(Int.MaxValue))
    val row = rows(Nil, 1)
    val built = build(spec, Seq(LongType), (0L until 1000L).map(i => row(0, Seq(i))))
    var seen = 0
    val found = least(built, row(0, Seq(500L))) { i =>
      seen += 1
      (i - 500L).abs
    }
    assert(found.contains(0L) && seen < 4)
  }
}
