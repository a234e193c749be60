package thetajoin.accelerator.wildcard

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.Found

/** The index gives the rules that a loop finds. */
class WildcardIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 300)

  private val value = Gen.frequency(6 -> Gen.choose(0L, 4L).map(Option(_)), 1 -> None)

  /** Two columns that may be open, one that is never, and the mask. */
  private val rules = Gen.listOf(Gen.zip(value, value, value, Gen.choose(0L, 3L)))
  private val facts = Gen.listOf(Gen.zip(value, value, value))
  private val types = Seq(LongType, StringType, LongType)

  private def row(types: Seq[DataType], values: Option[Long]*): InternalRow = {
    val fields = values.zip(types).map {
      case (None, _) => null
      case (Some(n), StringType) => UTF8String.fromString("a rule's text " * n.toInt)
      case (Some(n), _) => n
    }
    UnsafeProjection.create(types.toArray)(InternalRow.fromSeq(fields))
  }

  private def isEqual(a: Option[Long], b: Option[Long]): Boolean = a.isDefined && a == b

  test("candidates are the rules that match, and rules that match nothing are kept") {
    forAll(rules, facts) { (rules, facts) =>
      val builder = WildcardSpec(2).newBuilder(types :+ LongType)
      rules.foreach { case (x, y, k, mask) =>
        builder.add(row(types :+ LongType, x, y, k, Some(mask)))
      }
      val built = builder.finish()
      assert(built.order.sorted.toSeq == rules.indices)
      val prober = built.index.newProber()
      facts.foreach { case (a, b, c) =>
        prober.probe(row(types, a, b, c))
        val found = Found.all(prober).map(built.order(_))
        val expected = rules.indices.filter { i =>
          val (x, y, k, mask) = rules(i)
          ((mask & 2L) != 0 || isEqual(x, a)) && ((mask & 1L) != 0 || isEqual(y, b)) &&
          isEqual(k, c)
        }
        assert(found.sorted == expected)
      }
    }
  }

  test("rules of as many columns as a set may have") {
    val columns = WildcardSpec.MostColumns
    val types = Seq.fill(columns)(LongType)
    def value(rule: Int, column: Int) = Some((rule * 31 + column) % 5L)
    // Rules leave more and more of the first columns open; the last one never is.
    val open = Seq(0, 1, 2, 40, columns - 1)
    val builder = WildcardSpec(columns - 1).newBuilder(types :+ LongType)
    open.zipWithIndex.foreach { case (n, rule) =>
      val mask = (0 until n).foldLeft(0L)((bits, i) => bits | (1L << (columns - 2 - i)))
      val values = (0 until columns).map(value(rule, _)) :+ Some(mask)
      builder.add(row(types :+ LongType, values: _*))
    }
    val built = builder.finish()
    val prober = built.index.newProber()
    open.indices.foreach { fact =>
      prober.probe(row(types, (0 until columns).map(value(fact, _)): _*))
      val found = Found.all(prober).map(built.order(_))
      val expected = open.indices.filter { rule =>
        (open(rule) until columns).forall(c => value(rule, c) == value(fact, c))
      }
      assert(expected.contains(fact))
      assert(found.sorted == expected)
    }
  }
}
