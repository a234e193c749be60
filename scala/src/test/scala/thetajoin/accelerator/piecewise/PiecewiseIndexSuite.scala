package thetajoin.accelerator.piecewise

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.Found
import thetajoin.contract.{IndexSpec, OrderedIndex}
import thetajoin.kit.Directory

/** The index gives exactly the rows that a loop over all of them gives. */
class PiecewiseIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 300)

  private val operators = Gen.oneOf("<", "<=", ">", ">=")
  private val clustered = Gen.choose(-5L, 5L)
  private val extreme =
    Gen.oneOf(Long.MinValue, Long.MinValue + 1, -1L, 0L, 1L, Long.MaxValue - 1, Long.MaxValue)
  private val anyLong = Gen.oneOf(clustered, extreme, Gen.long, Gen.choose(0L, 100000L))

  private def build(spec: IndexSpec, keyType: DataType, keys: Seq[Any]): OrderedIndex = {
    val builder = spec.newBuilder(Seq(keyType))
    val toUnsafe = UnsafeProjection.create(Array(keyType))
    keys.foreach(k => builder.add(toUnsafe(InternalRow(k))))
    builder.finish()
  }

  private def candidates(built: OrderedIndex, key: Any): Seq[Int] = {
    val prober = built.index.newProber()
    prober.probe(InternalRow(key))
    Found.all(prober).map(built.order(_))
  }

  private def holds[A](operator: String, build: A, probe: A)(implicit
      ordering: Ordering[A]
  ): Boolean = {
    val c = ordering.compare(build, probe)
    operator match {
      case "<" => c < 0
      case "<=" => c <= 0
      case ">" => c > 0
      case ">=" => c >= 0
    }
  }

  test("candidates of a long key are the rows that a loop finds") {
    forAll(Gen.listOf(anyLong), Gen.listOfN(20, anyLong), operators) { (keys, others, operator) =>
      val built = build(PiecewiseSpec(operator), LongType, keys)
      (others ++ keys).foreach { probe =>
        val expected = keys.indices.filter(i => holds(operator, keys(i), probe))
        assert(candidates(built, probe).sorted == expected)
      }
    }
  }

  test("candidates of a string key are the rows that a loop finds") {
    val strings =
      Gen.listOf(Gen.oneOf(Gen.alphaNumStr, Gen.const(""), Gen.const("ü"), Gen.const("z\u0000")))
    forAll(strings, strings, operators) { (keys, others, operator) =>
      val utf8 = keys.map(UTF8String.fromString)
      val built = build(PiecewiseSpec(operator), StringType, utf8)
      (others.map(UTF8String.fromString) ++ utf8).foreach { probe =>
        val expected = utf8.indices.filter(i => holds(operator, utf8(i), probe)(Ordering.ordered))
        assert(candidates(built, probe).sorted == expected)
      }
    }
  }

  test("one row answers whether a key has a candidate") {
    forAll(Gen.listOf(anyLong), Gen.listOfN(20, anyLong), operators) { (keys, others, operator) =>
      val built = build(PiecewiseSpec(operator).forOne, LongType, keys)
      assert(built.order.length == math.min(1, keys.size))
      (others ++ keys).foreach { probe =>
        assert(candidates(built, probe).nonEmpty == keys.exists(holds(operator, _, probe)))
      }
    }
  }

  test("rows are stored in key order and equal keys in order of arrival") {
    forAll(Gen.listOf(anyLong)) { keys =>
      val built = build(PiecewiseSpec("<"), LongType, keys)
      assert(built.order.toSeq == keys.indices.sortBy(i => (keys(i), i)))
    }
  }

  test("a directory over many keys finds what a search over all of them finds") {
    val random = new scala.util.Random(7)
    val spans = Seq[() => Long](
      () => random.nextLong(),
      () => random.nextInt(1000).toLong,
      () => 1L << random.nextInt(63)
    )
    spans.foreach { next =>
      val keys = Array.fill(10000)(next()).sorted
      val directory = Directory(keys)
      Seq.fill(2000)(next()).foreach { key =>
        val expected = keys.indexWhere(_ >= key) match {
          case -1 => keys.length
          case i => i
        }
        assert(directory.firstAtLeast(keys, key) == expected)
      }
    }
  }
}
