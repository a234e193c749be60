package thetajoin.accelerator.containment

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.Found
import thetajoin.condition.OrderedLong
import thetajoin.contract.{NarrowingProber, OrderedIndex}

/** The index gives exactly the rows that a loop over all of them gives, each once. */
class ContainmentIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200)

  private type Elements = Seq[Option[Int]]

  /** Few values, so that many are equal; some are null. */
  private val sets: Gen[Elements] =
    Gen.choose(
      0,
      6
    ).flatMap(Gen.listOfN(_, Gen.frequency(9 -> Gen.choose(-3, 6).map(Option(_)), 1 -> None)))
  private val columns = Gen.listOf(sets)

  /** An element as a type has it. */
  private sealed abstract class Kind(val elementType: DataType) {
    def of(n: Int): Any
  }
  private object Numbers extends Kind(IntegerType) { override def of(n: Int): Any = n }
  private object Texts extends Kind(StringType) {
    override def of(n: Int): Any = UTF8String.fromString("text " * math.abs(n) + n)
  }
  private object Decimals extends Kind(DecimalType(30, 2)) {
    override def of(n: Int): Any = Decimal(BigDecimal(n), 30, 2)
  }
  private val kinds = Gen.oneOf(Numbers, Texts, Decimals)

  private def array(kind: Kind, set: Elements): Any =
    new GenericArrayData(set.map(_.map(kind.of).orNull).toArray[Any])

  private def value(kind: Kind, n: Int): Any = kind match {
    case Numbers => n.toLong
    case other => other.of(n)
  }

  private def valueType(kind: Kind): DataType = kind match {
    case Numbers => LongType
    case other => other.elementType
  }

  private def build(spec: ContainmentSpec, keyType: DataType, keys: Seq[Any]): OrderedIndex =
    buildRows(spec, Seq(keyType), keys.map(Seq(_)))

  private def buildRows(spec: ContainmentSpec, types: Seq[DataType], keys: Seq[Seq[Any]]) = {
    val builder = spec.newBuilder(types)
    val toUnsafe = UnsafeProjection.create(types.toArray)
    keys.foreach(k => builder.add(toUnsafe(InternalRow.fromSeq(k))))
    builder.finish()
  }

  private def candidates(built: OrderedIndex, keyType: DataType, keys: Seq[Any]): Seq[Seq[Int]] = {
    val prober = built.index.newProber()
    val toUnsafe = UnsafeProjection.create(Array(keyType))
    keys.map { key =>
      prober.probe(toUnsafe(InternalRow(key)))
      val runs = Iterator.continually(prober.next()).takeWhile(identity)
        .map(_ => Found.run(prober)).toList
      assert(runs.forall(_.nonEmpty))
      runs.flatten.map(built.order(_)).sorted
    }
  }

  private def spec(
      kind: Kind,
      inCommon: InCommon,
      builds: Boolean,
      probes: Boolean,
      nulls: Boolean
  ) =
    ContainmentSpec(inCommon, kind.elementType, builds, probes, nulls)

  private def rows(sets: Seq[Elements])(holds: Elements => Boolean): Seq[Int] =
    sets.indices.filter(i => holds(sets(i)))

  private def known(set: Elements): Set[Int] = set.flatten.toSet

  test("arrays that have so many elements in common") {
    forAll(kinds, columns, columns, Gen.choose(1, 3)) { (kind, builds, probes, least) =>
      val keyType = ArrayType(kind.elementType)
      for (nulls <- Seq(false, true)) {
        val inCommon =
          if (least == 1) InCommon.One
          else InCommon.Alike(Measure.Count, Some(least.toDouble), matchEmpty = false)
        val of = spec(kind, inCommon, builds = true, probes = true, nulls)
        val built = build(of, keyType, builds.map(array(kind, _)))
        val found = candidates(built, keyType, probes.map(array(kind, _)))
        probes.zip(found).foreach { case (probe, got) =>
          val expected = rows(builds) { set =>
            val common = known(set).intersect(known(probe)).size
            val ofNull = if (nulls && set.contains(None) && probe.contains(None)) 1 else 0
            common + ofNull >= least
          }
          assert(got == expected)
        }
      }
    }
  }

  test("arrays that have all elements of others") {
    def covers(whole: Elements, part: Elements, nulls: Boolean) =
      if (nulls) part.toSet.subsetOf(whole.toSet)
      else !part.contains(None) && known(part).subsetOf(known(whole))
    forAll(kinds, columns, columns) { (kind, builds, probes) =>
      val keyType = ArrayType(kind.elementType)
      for {
        nulls <- Seq(false, true)
        inCommon <- Seq(InCommon.AllOfBuild, InCommon.AllOfProbe)
      } {
        val of = spec(kind, inCommon, builds = true, probes = true, nulls)
        val built = build(of, keyType, builds.map(array(kind, _)))
        val found = candidates(built, keyType, probes.map(array(kind, _)))
        probes.zip(found).foreach { case (probe, got) =>
          val expected = rows(builds) { set =>
            if (inCommon == InCommon.AllOfBuild) covers(probe, set, nulls)
            else covers(set, probe, nulls)
          }
          assert(got == expected)
        }
      }
    }
  }

  private val measures = Gen.oneOf(Measure.all)
  private val parts = Gen.oneOf(0.2, 0.34, 0.5, 2.0 / 3.0, 0.8, 1.0, 1.2, 2.0, 3.0)

  /** Of elements of which few are frequent. */
  private val larger: Gen[Elements] = {
    val element = Gen.frequency(9 -> Gen.choose(-3, 6), 4 -> Gen.choose(-60, 60)).map(Option(_))
    Gen.choose(0, 12).flatMap(Gen.listOfN(_, Gen.frequency(30 -> element, 1 -> Gen.const(None))))
  }

  private def common(set: Elements, probe: Elements, nulls: Boolean): Int =
    set.toSet.intersect(probe.toSet).count(nulls || _.nonEmpty)

  test("arrays that are alike are among the candidates, and no row twice") {
    forAll(kinds, Gen.listOf(larger), Gen.listOf(larger), measures, parts, Gen.oneOf(true, false)) {
      (kind, builds, others, measure, part, matchEmpty) =>
        val keyType = ArrayType(kind.elementType)
        val probes = others ++ builds.take(9) ++ builds.take(9).map(_.drop(1))
        for (nulls <- Seq(false, true)) {
          val inCommon = InCommon.Alike(measure, Some(part), matchEmpty)
          val built = build(
            spec(kind, inCommon, builds = true, probes = true, nulls),
            keyType,
            builds.map(array(kind, _))
          )
          val found = candidates(built, keyType, probes.map(array(kind, _)))
          probes.zip(found).foreach { case (probe, got) =>
            def needed(set: Elements) = measure.least(part, set.toSet.size, probe.toSet.size)
            val expected = rows(builds) { set =>
              val n = common(set, probe, nulls)
              n >= needed(set) && (matchEmpty || n > 0)
            }
            assert(expected.diff(got).isEmpty, s"of $probe by $measure")
            assert(got.distinct == got)
            assert(got.forall(i => common(builds(i), probe, nulls) > 0 || matchEmpty))
          }
        }
    }
  }

  test("arrays that are alike by a part of each") {
    val ofRow = Gen.frequency(9 -> parts, 1 -> Gen.oneOf(0.0, -1.0, Double.NaN, 1e-9, 1e300))
    val others = Gen.listOf(Gen.zip(larger, ofRow))
    forAll(kinds, others, Gen.listOf(larger), measures) { (kind, builds, probes, measure) =>
      val types = Seq[DataType](ArrayType(kind.elementType), DoubleType)
      val of = spec(
        kind,
        InCommon.Alike(measure, part = None, matchEmpty = false),
        builds = true,
        probes = true,
        nulls = true
      )
      val keys = builds.map { case (set, part) => Seq(array(kind, set), part) }
      val found =
        candidates(buildRows(of, types, keys), types.head, probes.map(array(kind, _)))
      probes.zip(found).foreach { case (probe, got) =>
        val expected = builds.indices.filter { i =>
          val (set, part) = builds(i)
          val n = common(set, probe, nulls = true)
          part <= 0.0 || n > 0 && n >= measure.least(part, set.toSet.size, probe.toSet.size)
        }.filterNot(builds(_)._2.isNaN)
        assert(expected.diff(got).isEmpty, s"of $probe by $measure")
        assert(got.distinct == got)
      }
    }
  }

  test("the sets that are most alike are among the candidates that the join needs") {
    val orders = for {
      measure <- Gen.oneOf(Measure.all.filter(_ != Measure.Count))
      from <- Gen.oneOf(Double.NaN, 1.0)
      least <- Gen.frequency(3 -> Gen.const(0.0), 1 -> parts)
      nulls <- Gen.oneOf(NearestOrder.NoNulls, NearestOrder.NullsFirst, NearestOrder.NullsLast)
    } yield NearestOrder(measure, weight = 1.0, from, least, nulls)
    val keyed = Gen.listOf(Gen.zip(Gen.choose(0L, 2L), larger))
    forAll(kinds, keyed, keyed, orders, Gen.oneOf(1, 2, 5, 40), Gen.oneOf(true, false)) {
      (kind, builds, probes, order, k, hasKeys) =>
        def keys(rows: Seq[(Long, Elements)]) = rows.map { case (key, set) =>
          (if (hasKeys) Seq(key) else Nil) :+ array(kind, set)
        }
        val types = (if (hasKeys) Seq(LongType) else Nil) :+ ArrayType(kind.elementType)
        val of = spec(kind, InCommon.Nearest(order), builds = true, probes = true, nulls = true)
        val built = buildRows(of, types, keys(builds))
        val prober = built.index.newProber()
        val toUnsafe = UnsafeProjection.create(types.toArray[DataType])
        probes.zip(keys(probes)).foreach { case ((key, probe), row) =>
          def rank(i: Int): Option[Long] = {
            val (otherKey, set) = builds(i)
            val part = order.measure
              .part(common(set, probe, nulls = true), set.toSet.size, probe.toSet.size)
            if (hasKeys && key != otherKey || part < order.least) None
            else numbered(order, part)
          }
          prober.probe(toUnsafe(InternalRow.fromSeq(row)))
          val found = mutable.ArrayBuffer.empty[Int]
          def best(rows: Iterable[Int]) = rows.flatMap(rank).toSeq.sorted.take(k)
          while (prober.next()) {
            found ++= Found.run(prober).map(built.order(_))
            val ranks = best(found)
            if (ranks.size == k)
              prober.asInstanceOf[NarrowingProber].narrow(ranks.last)
          }
          assert(found.distinct == found)
          assert(best(found) == best(builds.indices), s"of $probe by $order")
        }
    }
  }

  /** The rank of a part as a number in ascending order, if the pair is a match. */
  private def numbered(order: NearestOrder, part: Double): Option[Long] =
    if (part.isNaN)
      (order.nulls match {
        case _ if order.least > 0.0 => None
        case NearestOrder.NullsFirst => Some(Long.MinValue)
        case NearestOrder.NullsLast => Some(Long.MaxValue)
        case _ => None
      })
    else if (order.from.isNaN) Some(~OrderedLong.ofDouble(part))
    else Some(OrderedLong.ofDouble(order.from - part))

  test("values in arrays, either of them built") {
    forAll(kinds, columns, Gen.listOf(Gen.choose(-4, 7))) { (kind, sets, values) =>
      val (arrays, keyType) = (sets.map(array(kind, _)), ArrayType(kind.elementType))
      val ofArrays = spec(kind, InCommon.One, builds = true, probes = false, nulls = false)
      val byElement = build(ofArrays, keyType, arrays)
      val inArrays = candidates(byElement, valueType(kind), values.map(value(kind, _)))
      values.zip(inArrays).foreach { case (n, got) =>
        assert(got == rows(sets)(_.contains(Some(n))))
      }

      val ofValues = spec(kind, InCommon.One, builds = false, probes = true, nulls = false)
      val byValue = build(ofValues, valueType(kind), values.map(value(kind, _)))
      sets.zip(candidates(byValue, keyType, arrays)).foreach { case (set, got) =>
        assert(got == values.indices.filter(i => set.contains(Some(values(i)))))
      }

      val once = ofValues.forOne.asInstanceOf[ContainmentSpec]
      val distinct = build(once, valueType(kind), values.map(value(kind, _)))
      assert(distinct.order.length == values.distinct.size)
      sets.zip(candidates(distinct, keyType, arrays)).foreach { case (set, got) =>
        assert(got.nonEmpty == values.exists(n => set.contains(Some(n))))
      }
    }
  }
}
