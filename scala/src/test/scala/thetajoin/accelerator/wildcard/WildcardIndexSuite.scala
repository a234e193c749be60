package thetajoin.accelerator.wildcard

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{DataType, LongType}

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.accelerator.Found

/** The index gives the rules that a loop finds. The kit of tests compares them for few columns. */
class WildcardIndexSuite extends AnyFunSuite {
  private def row(values: Seq[Long]): InternalRow =
    UnsafeProjection.create(
      values.map(_ => LongType: DataType).toArray
    )(InternalRow.fromSeq(values))

  test("rules of as many columns as a set may have") {
    val columns = WildcardSpec.MostColumns
    def value(rule: Int, column: Int) = (rule * 31 + column) % 5L
    // Rules leave more and more of the first columns open; the last one never is.
    val open = Seq(0, 1, 2, 40, columns - 1)
    val builder = WildcardSpec(columns - 1).newBuilder(Seq.fill(columns + 1)(LongType))
    open.zipWithIndex.foreach { case (n, rule) =>
      val mask = (0 until n).foldLeft(0L)((bits, i) => bits | (1L << (columns - 2 - i)))
      builder.add(row((0 until columns).map(value(rule, _)) :+ mask))
    }
    val built = builder.finish()
    val prober = built.index.newProber()
    open.indices.foreach { fact =>
      prober.probe(row((0 until columns).map(value(fact, _))))
      val found = Found.all(prober).map(built.order(_))
      val expected = open.indices.filter { rule =>
        (open(rule) until columns).forall(c => value(rule, c) == value(fact, c))
      }
      assert(expected.contains(fact))
      assert(found.sorted == expected)
    }
  }
}
