package thetajoin.accelerator.existence

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.Found
import thetajoin.contract.{BytesLookup, IndexSpec, LongsLookup, OrderedIndex}
import thetajoin.kit.keys.{DenseLongs, LongTable}

/** The index gives exactly the rows that a loop over all of them gives. */
class ExistenceIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 60)

  private val anyLong = Gen.oneOf(
    Gen.choose(-5L, 5L),
    Gen.oneOf(Long.MinValue, Long.MinValue + 1, -1L, 0L, 1L, Long.MaxValue - 1, Long.MaxValue),
    Gen.long,
    Gen.choose(0L, 1000L)
  )
  private val longs = Gen.oneOf(Gen.listOf(anyLong), Gen.listOf(Gen.choose(-40L, 400L)))
  private val few = Gen.oneOf("", "ü", "z\u0000", "z", "y" * 15, "y" * 16, "\u0000" * 8)
  private val short = Gen.choose(0, 15).flatMap(Gen.stringOfN(_, Gen.oneOf('a', 'b', '\u007f')))
  private val strings = Gen.oneOf(
    Gen.listOf(short),
    Gen.listOf(Gen.oneOf(short, few)),
    Gen.listOf(Gen.oneOf(Gen.alphaNumStr, few))
  ).map(_.map(UTF8String.fromString))

  private def row(types: Seq[DataType], values: Any*): UnsafeRow =
    UnsafeProjection.create(types.toArray)(InternalRow(values: _*)).copy()

  private def build(spec: IndexSpec, rows: Seq[UnsafeRow], types: DataType*): OrderedIndex = {
    val builder = spec.newBuilder(types)
    rows.foreach(builder.add)
    sent(builder.finish())
  }

  /** As a task on another machine has it. */
  private def sent(built: OrderedIndex): OrderedIndex = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(built)
    out.close()
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray))
    val copy = in.readObject().asInstanceOf[OrderedIndex]
    assert(copy.index.bytes == built.index.bytes)
    copy
  }

  private def candidates(built: OrderedIndex, key: UnsafeRow): Seq[Int] = {
    val prober = built.index.newProber()
    prober.probe(key)
    Found.all(prober).map(built.order(_))
  }

  private def check(keys: Seq[UnsafeRow], others: Seq[UnsafeRow], types: DataType*): Unit = {
    val all = build(ExistenceSpec(), keys, types: _*)
    val distinct = build(ExistenceSpec().forOne, keys, types: _*)
    assert(distinct.order.toSeq == keys.distinct.map(keys.indexOf(_)))
    (keys ++ others).foreach { key =>
      val expected = keys.indices.filter(keys(_) == key)
      assert(candidates(all, key).sorted == expected)
      assert(candidates(distinct, key).nonEmpty == expected.nonEmpty)
      distinct.index match {
        case index: LongsLookup =>
          assert(index.find(Array(key.getLong(0))) >= 0 == expected.nonEmpty)
        case index: BytesLookup if types.size > 1 =>
          val at = index.find(key.getBaseObject, key.getBaseOffset, key.getSizeInBytes)
          assert((at >= 0) == expected.nonEmpty)
        case _ => assert(types.size == 1 && types != Seq(LongType))
      }
    }
  }

  test("candidates of a long key are the rows that a loop finds") {
    forAll(longs, Gen.listOfN(20, anyLong)) { (keys, others) =>
      check(keys.map(row(Seq(LongType), _)), others.map(row(Seq(LongType), _)), LongType)
    }
  }

  test("candidates of other keys are the rows that a loop finds") {
    forAll(strings, strings) { (keys, others) =>
      check(keys.map(row(Seq(StringType), _)), others.map(row(Seq(StringType), _)), StringType)
      def pairs(values: Seq[UTF8String]) =
        values.map(s => row(Seq(StringType, LongType), s, s.numChars.toLong % 3))
      check(pairs(keys), pairs(others), StringType, LongType)
    }
  }

  test("a null in NOT IN matches everything") {
    val cell = Gen.option(Gen.choose(0L, 3L))
    val rows =
      Gen.listOf(Gen.zip(Gen.choose(0L, 1L), cell, Gen.option(Gen.oneOf("", "a", "b")), cell))
    def types(second: DataType) = Seq(LongType, LongType, second, LongType, LongType)
    type Cells = (Long, Option[Long], Option[String], Option[Long])
    def key(cells: Cells, second: DataType): UnsafeRow = {
      val (plain, x, s, y) = cells
      val mask = Seq(x, s, y).foldLeft(0L)((mask, c) => mask * 2 + (if (c.isEmpty) 1 else 0))
      val string = s.getOrElse("")
      val value = if (second == LongType) string.hashCode.toLong else UTF8String.fromString(string)
      row(types(second), plain, x.getOrElse(0L), value, y.getOrElse(0L), mask)
    }
    def matches(a: Cells, b: Cells): Boolean = {
      def same[A](l: Option[A], r: Option[A]) = l.isEmpty || r.isEmpty || l == r
      a._1 == b._1 && same(a._2, b._2) && same(a._3, b._3) && same(a._4, b._4)
    }
    forAll(rows, rows) { (buildRows, probes) =>
      for (second <- Seq(StringType, LongType)) {
        def index(distinct: Boolean) =
          build(
            NullAwareSpec(plain = 1, nullable = 3, distinct),
            buildRows.map(key(_, second)),
            types(second): _*
          )
        val (all, distinct) = (index(distinct = false), index(distinct = true))
        probes.foreach { probe =>
          val expected = buildRows.indices.filter(i => matches(buildRows(i), probe))
          assert(candidates(all, key(probe, second)).sorted == expected)
          assert(candidates(distinct, key(probe, second)).nonEmpty == expected.nonEmpty)
        }
      }
    }
  }

  test("rows that are kept answer comparisons as a loop over all rows does") {
    val value = Gen.oneOf(Gen.choose(-3L, 3L), anyLong)
    val rows = Gen.listOf(Gen.zip(Gen.choose(0L, 4L), value, value))
    type Test = (Long, Long) => Boolean
    val specs = Seq[(TestedSpec, Seq[Test])](
      AtLeastSpec(Seq(false), isSieved = true) -> Seq(_ >= _),
      AtLeastSpec(Seq(true), isSieved = true) -> Seq(_ > _),
      UnequalSpec -> Seq(_ != _),
      AtLeastSpec(Seq(false, true), isSieved = false) -> Seq(_ >= _, _ > _),
      AtLeastSpec(Seq(true, true), isSieved = false) -> Seq(_ > _, _ > _)
    )
    val keyTypes = Seq(Nil, Seq(LongType), Seq(StringType), Seq(LongType, StringType))
    forAll(rows, rows) { (build, probes) =>
      for ((spec, tests) <- specs; types <- keyTypes) {
        val all = types ++ Seq.fill(spec.comparisons)(LongType)
        def key(cells: (Long, Long, Long)): UnsafeRow = {
          val (key, first, second) = cells
          val keys = types.map {
            case LongType => key
            case _ => UTF8String.fromString(s"key $key")
          }
          row(all, keys ++ Seq(first, second).take(spec.comparisons): _*)
        }
        def matches(build: (Long, Long, Long), probe: (Long, Long, Long)): Boolean =
          (types.isEmpty || build._1 == probe._1) &&
            Seq(build._2 -> probe._2, build._3 -> probe._3).zip(tests).forall {
              case ((b, p), test) => test(b, p)
            }
        // A task may leave rows out that it knows to be needless.
        val rests = if (spec.sieve.isEmpty || types.isEmpty) Seq(build)
        else {
          val seen = spec.newSeenKeys(all)
          Seq(build, build.filter(row => seen.isNew(key(row))))
        }
        for (rest <- rests) {
          val built = this.build(spec, rest.map(key), all: _*)
          probes.foreach { probe =>
            val found = candidates(built, key(probe))
            assert(found.nonEmpty == build.exists(matches(_, probe)))
            assert(found.size <= 1 && found.forall(i => matches(rest(i), probe)))
          }
        }
      }
    }
  }

  test("many strings, all of them short until one is longer") {
    for (longer <- Seq(false, true)) {
      val keys = Seq.tabulate(50000)(i => s"key ${i * 7L}") ++ (if (longer) Seq("x" * 16) else Nil)
      val rows = keys.map(key => row(Seq(StringType), UTF8String.fromString(key)))
      val built = build(ExistenceSpec(distinct = true), rows, StringType)
      assert(built.order.toSeq == keys.indices)
      rows.zipWithIndex.foreach { case (key, i) => assert(candidates(built, key) == Seq(i)) }
      Seq("key 8", "key", "", "x" * 15, "x" * 17).foreach { key =>
        assert(candidates(built, row(Seq(StringType), UTF8String.fromString(key))).isEmpty)
      }
    }
  }

  test("many keys, close together or far apart") {
    for (step <- Seq(1L, 3L, 1000003L, Long.MaxValue / 100000)) {
      val keys = Seq.tabulate(50000)(i => i * step - 70000)
      val builder = ExistenceSpec(distinct = true).newBuilder(Seq(LongType))
      val key = row(Seq(LongType), 0L)
      keys.foreach { value =>
        key.setLong(0, value)
        builder.add(key)
      }
      val table = sent(builder.finish()).index.asInstanceOf[LongTable]
      assert(keys.forall(table.contains))
      assert(!keys.exists(key => step > 1 && table.contains(key + 1)))
      assert(table.bytes <= 50000 * 32)
      assert((step <= 100) == table.isInstanceOf[DenseLongs])
    }
  }
}
