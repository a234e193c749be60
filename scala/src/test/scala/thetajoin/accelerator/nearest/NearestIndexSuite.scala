package thetajoin.accelerator.nearest

import org.apache.spark.sql.types.LongType

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.KeyedIndexes

class NearestIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks with KeyedIndexes {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200)

  private val keyed = manyOrOne(Gen.zip(Gen.choose(0, 2), anyLong))(_._1)
  private val bound = Gen.option(flags)

  test("candidates come in the order of their value, those of a loop, or the first of them") {
    forAll(keyTypes, keyed, Gen.listOfN(20, pairs), bound, Gen.zip(bound, flags)) {
      case (types, data, probes, isLowerStrict, (isUpperStrict, isFirst)) =>
        val spec = NearestSpec(types.size, isLowerStrict, isUpperStrict)
        val asked = if (isFirst) spec.forOne else spec
        val bounds = isLowerStrict.size + isUpperStrict.size
        val (ofBuild, ofProbe) = (rows(types, 1), rows(types, bounds))
        val input = data.map { case (key, value) => ofBuild(key, Seq(value)) }
        val built = build(asked, types :+ LongType, input)
        def isIn(value: Long, from: Long, until: Long) =
          isLowerStrict.forall(strict => value > from || value == from && !strict) &&
            isUpperStrict.forall(strict => value < until || value == until && !strict)
        val found =
          for ((from, until) <- probes ++ data.map(d => (d._2, d._2 + 9)); key <- 0 to 3) yield {
            val matches = data.indices.filter { i =>
              (types.isEmpty || data(i)._1 == key) && isIn(data(i)._2, from, until)
            }.sortBy(data(_)._2)
            val expected = if (isFirst) matches.take(1) else matches
            val numbers = isLowerStrict.map(_ => from) ++ isUpperStrict.map(_ => until)
            val probe = ofProbe(key, numbers.toSeq)
            assert(candidates(built, probe) == expected)
            (probe, expected)
          }
        assert(inBatches(built, types.size, found.map(_._1)) == found.map(_._2.sorted))
    }
    assert(lookups.toSet == Set[Class[_]](classOf[First]))
  }

  test("so do those of values that are compared, ascending or descending") {
    forAll(keyTypes, keyed, Gen.listOfN(20, pairs), Gen.zip(bound, bound), Gen.zip(flags, flags)) {
      case (types, data, probes, (isFromStrict, isUntilStrict), (isAscending, isFirst)) =>
        val spec = NearestValuesSpec(types.size, isAscending, isFromStrict, isUntilStrict)
        val (ofBuild, ofProbe) =
          (rows(types, 1), rows(types, isFromStrict.size + isUntilStrict.size))
        val input = data.map { case (key, value) => ofBuild(key, Seq(value)) }
        val built = build(if (isFirst) spec.forOne else spec, types :+ LongType, input)
        def isBefore(a: Long, b: Long) = if (isAscending) a < b else a > b
        def isIn(value: Long, from: Long, until: Long) =
          isFromStrict.forall(strict => isBefore(from, value) || value == from && !strict) &&
            isUntilStrict.forall(strict => isBefore(value, until) || value == until && !strict)
        for ((from, until) <- probes ++ data.map(d => (d._2, d._2 + 9)); key <- 0 to 3) {
          val matches = data.indices.filter { i =>
            (types.isEmpty || data(i)._1 == key) && isIn(data(i)._2, from, until)
          }.sortWith((a, b) => isBefore(data(a)._2, data(b)._2))
          val bounds = isFromStrict.map(_ => from) ++ isUntilStrict.map(_ => until)
          val found = candidates(built, ofProbe(key, bounds.toSeq))
          assert(found == (if (isFirst) matches.take(1) else matches))
        }
    }
  }
}
