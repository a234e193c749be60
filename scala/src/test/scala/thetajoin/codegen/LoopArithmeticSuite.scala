package thetajoin.codegen

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateMutableProjection
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Rewritten expressions have Spark's values and errors, in generated code and interpreted. */
class LoopArithmeticSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  private val extreme = Gen.oneOf(Long.MinValue, Long.MinValue + 1, -1L, 0L, 1L, Long.MaxValue)
  private val anyLong = Gen.oneOf(extreme, Gen.long, Gen.choose(-2000L, 2000L))

  /** Two nullable columns of a type. */
  private def columns(t: DataType): (BoundReference, BoundReference) =
    (BoundReference(0, t, nullable = true), BoundReference(1, t, nullable = true))

  private def generated(e: Expression): InternalRow => Any = {
    val projection = GenerateMutableProjection.generate(Seq(e))
    row => projection(row).get(0, e.dataType)
  }

  private def outcome(evaluate: InternalRow => Any, row: InternalRow): Either[String, Any] =
    try Right(evaluate(row))
    catch { case e: ArithmeticException => Left(e.getMessage) }

  /** Both ways to evaluate the rewritten expression, against Spark's evaluation of the original. */
  private def assertSame(original: Expression, rows: Gen[InternalRow]): Unit =
    Seq(false, true).foreach { crowded =>
      val rewritten = LoopArithmetic.rewrite(original, crowded)
      assert(rewritten != original)
      val inCode = generated(rewritten)
      forAll(rows) { row =>
        val expected = outcome(original.eval, row)
        assert(outcome(inCode, row) == expected)
        assert(outcome(rewritten.eval, row) == expected)
      }
    }

  private def assertLeftAlone(e: Expression): Unit =
    assert(LoopArithmetic.rewrite(e, crowded = true) == e)

  private def rows(t: DataType): Gen[InternalRow] = {
    val value = Gen.frequency[Any](
      9 -> anyLong.map(v => if (t == LongType) v else if (v.isValidInt) v.toInt else v.hashCode),
      1 -> Gen.const(null)
    )
    Gen.zip(value, value).map { case (l, r) => InternalRow(l, r) }
  }

  test("ANSI sums, differences and products") {
    SQLConf.withExistingConf(ansi(true)) {
      for (t <- Seq(LongType, IntegerType)) {
        val (l, r) = columns(t)
        Seq(Add(l, r), Subtract(l, r), Multiply(l, r), Add(Multiply(l, r), Subtract(r, l)))
          .foreach(assertSame(_, rows(t)))
        for (c <- Seq(0, 3, -3).map(v => if (t == LongType) Literal(v.toLong) else Literal(v)))
          Seq(Add(l, c), Add(c, l), Subtract(l, c)).foreach(assertSame(_, rows(t)))
      }
    }
  }

  test("what can't overflow, or may, is left alone") {
    val (l, r) = columns(LongType)
    SQLConf.withExistingConf(ansi(false)) {
      Seq(Add(l, r), Subtract(l, r), Multiply(l, r)).foreach(assertLeftAlone)
    }
    SQLConf.withExistingConf(ansi(true)) {
      val (d, e) = columns(DoubleType)
      assertLeftAlone(Add(d, e))
    }
  }

  test("divisibility by any literal") {
    val divisors = Gen.oneOf(anyLong, Gen.choose(0, 62).map(1L << _), Gen.choose(2L, 5000L))
    forAll(divisors, anyLong) { (divisor, value) =>
      whenever(math.abs(divisor) >= 2) {
        val test = LoopArithmetic.DivisibleBy(Literal(value), math.abs(divisor))
        val multiple =
          LoopArithmetic.DivisibleBy(Literal(value / divisor * divisor), math.abs(divisor))
        assert(generated(test)(InternalRow.empty) == (value % divisor == 0))
        assert(generated(multiple)(InternalRow.empty) == true)
      }
    }
  }

  test("a remainder compared with zero, of whole numbers") {
    for {
      divisor <- Seq(2, 3, 8, 10, 1000, -6, -8, Int.MaxValue)
      literal <- Seq(Literal(divisor.toLong), Literal(divisor))
    } {
      val t = literal.dataType
      val zero = Literal.default(t)
      val remainder = Remainder(columns(t)._1, literal)
      assertSame(EqualTo(remainder, zero), rows(t))
      assertSame(Not(EqualTo(zero, remainder)), rows(t))
    }
  }

  test("divisors without a rewriting") {
    val (l, _) = columns(LongType)
    SQLConf.withExistingConf(ansi(false)) {
      Seq(0L, 1L, -1L, Long.MinValue).foreach { divisor =>
        assertLeftAlone(EqualTo(Remainder(l, Literal(divisor)), Literal(0L)))
      }
      assertLeftAlone(EqualTo(Remainder(l, Literal(10L)), Literal(3L)))
    }
  }

  private def ansi(enabled: Boolean): SQLConf = {
    val conf = new SQLConf
    conf.setConf(SQLConf.ANSI_ENABLED, enabled)
    conf
  }
}
