package thetajoin.accelerator.anyof

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.Found
import thetajoin.accelerator.existence.ExistenceSpec
import thetajoin.accelerator.interval.BetweenSpec

/** The index gives the rows that a loop finds by any arm, each once. */
class AnyOfIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200)

  private val number = Gen.frequency(6 -> Gen.choose(0L, 9L).map(Option(_)), 1 -> None)
  private val numbers = Gen.listOf(Gen.zip(number, number, number))
  private val probes = Gen.listOf(Gen.zip(number, number, number, number))

  /** x = a OR text y = text b OR z between c and d. */
  private val spec = AnyOfSpec(Seq(
    ArmSpec(ExistenceSpec(), 1, Seq(LongType)),
    ArmSpec(ExistenceSpec(), 1, Seq(StringType)),
    ArmSpec(BetweenSpec(0, Some(false), Some(false)), 1, Seq(LongType, LongType))
  ))

  private def row(types: Seq[DataType], values: Option[Long]*): InternalRow = {
    val fields = values.zip(types).map {
      case (None, _) => null
      case (Some(n), StringType) => UTF8String.fromString("n" * n.toInt)
      case (Some(n), _) => n
    }
    UnsafeProjection.create(types.toArray)(InternalRow.fromSeq(fields))
  }

  test("candidates are the rows of all arms, each once") {
    val buildTypes = Seq(LongType, StringType, LongType)
    val probeTypes = Seq(LongType, StringType, LongType, LongType)
    forAll(numbers, probes) { (builds, probes) =>
      val builder = spec.newBuilder(buildTypes)
      builds.foreach { case (x, y, z) => builder.add(row(buildTypes, x, y, z)) }
      val built = builder.finish()
      assert(built.order.toSeq == builds.indices)
      val prober = built.index.newProber()
      probes.foreach { case (a, b, c, d) =>
        prober.probe(row(probeTypes, a, b, c, d))
        val found = Found.all(prober)
        val expected = builds.indices.filter { i =>
          val (x, y, z) = builds(i)
          x.isDefined && x == a || y.isDefined && y == b ||
          (for (z <- z; c <- c; d <- d) yield c <= z && z <= d).contains(true)
        }
        assert(found.sorted == expected)
      }
    }
  }
}
