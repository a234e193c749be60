package thetajoin.accelerator.piecewise

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.contract.{IndexSpec, OrderedIndex}
import thetajoin.kit.Directory

/** The order of rows, and searches in many keys. The kit of tests compares candidates with those of a loop. */
class PiecewiseIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 300)

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
