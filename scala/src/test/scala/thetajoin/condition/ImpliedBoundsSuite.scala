package thetajoin.condition

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import org.scalatest.funsuite.AnyFunSuite

/** Where a condition holds, so do the comparisons that it implies, whatever the values. */
class ImpliedBoundsSuite extends AnyFunSuite {
  private val random = new Random(7)

  private final class Columns(t: DataType) {
    private def column(name: String) = AttributeReference(name, t)()
    val (x, z, r) = (column("x"), column("z"), column("r"))
    val (y, w, s) = (column("y"), column("w"), column("s"))
    val all: Seq[AttributeReference] = Seq(x, z, r, y, w, s)

    def analyse(condition: Expression): JoinShape =
      ConditionAnalysis.shape(all.take(3), all.drop(3), Some(condition))

    def number(value: Double): Expression =
      Literal(Cast(Literal(value), t).eval(), t)

    private val dx = Subtract(x, y)
    private val dz = Subtract(w, z)
    private def square(e: Expression) = Multiply(e, e)
    private def real(e: Expression) = Cast(e, DoubleType)
    private def pow(e: Expression, exponent: Double) = Pow(real(e), Literal(exponent))

    /** Of which each implies so many comparisons. */
    val conditions: Seq[(Int, Expression)] = Seq(
      2 -> LessThanOrEqual(Abs(dx), number(3)),
      2 -> GreaterThan(r, Abs(dx)),
      2 -> LessThan(Abs(dx), Add(r, s)),
      4 -> LessThanOrEqual(Add(square(dx), square(dz)), number(20)),
      4 -> LessThanOrEqual(Add(square(dx), square(dz)), Multiply(r, r)),
      4 -> LessThanOrEqual(Add(square(dx), square(dz)), square(Add(r, s))),
      4 -> LessThanOrEqual(Add(pow(dx, 2), pow(dz, 2)), pow(Subtract(r, s), 2)),
      4 -> LessThan(Sqrt(real(Add(square(dx), square(dz)))), real(r)),
      4 -> LessThan(pow(Add(square(dx), square(dz)), 0.5), real(s)),
      4 -> LessThanOrEqual(Hypot(real(dx), real(dz)), real(Subtract(r, s))),
      4 -> LessThanOrEqual(Add(Abs(dx), Abs(dz)), r),
      4 -> LessThanOrEqual(Add(Multiply(number(2), square(dx)), square(dz)), s),
      1 -> GreaterThan(real(dx), Literal(2.5)),
      1 -> LessThanOrEqual(real(r), real(dx)),
      1 -> LessThanOrEqual(real(Add(x, y)), real(Subtract(w, r))),
      1 -> GreaterThanOrEqual(
        real(y),
        Subtract(Add(real(x), real(z)), Multiply(Literal(2.0), real(w)))
      ),
      2 -> LessThan(Multiply(Literal(0.125), Abs(real(Subtract(Add(x, z), Add(y, w))))), real(r))
    )
  }

  private val doubles = Seq(0.0, -0.0, 1e-200, 1.0, 3.0, 1e16, -1e155, 1e308, -1e308)
  private val odd = Seq(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity)

  private def value(t: DataType): Any = {
    def small = (random.nextInt(41) - 20) / 4.0
    def close = small + random.nextInt(3) * math.ulp(small)
    t match {
      case _ if random.nextInt(60) == 0 => null
      case DoubleType | FloatType =>
        val drawn = random.nextInt(20) match {
          case 0 => odd(random.nextInt(odd.size))
          case 1 | 2 => doubles(random.nextInt(doubles.size))
          case 3 => (random.nextInt(7) - 3) * 1e38
          case 4 => random.nextGaussian() * 1e8
          case 5 => random.nextGaussian() * 1e-22
          case _ => close
        }
        if (t == FloatType) drawn.toFloat else drawn
      case IntegerType =>
        if (random.nextInt(9) == 0) random.nextInt() else random.nextInt(13) - 6
      case _ =>
        if (random.nextInt(9) == 0) random.nextLong() else (random.nextInt(13) - 6).toLong
    }
  }

  for (t <- Seq(DoubleType, FloatType, IntegerType, LongType))
    test(s"of ${t.sql}") {
      val columns = new Columns(t)
      for ((implied, condition) <- columns.conditions) {
        val found = columns.analyse(condition).conjuncts match {
          case Seq(Implied(`condition`, comparisons)) => comparisons
          // Sums of whole numbers have keys of their own.
          case Seq(c: Comparison) if !c.exact => Seq(c)
          case other => fail(s"$condition: $other")
        }
        assert(found.size == implied, condition)
        val isExpected = bound(condition, columns.all)
        val bounds = found.map { c =>
          (
            bound(OrderedLong(c.left), columns.all),
            c.operator,
            bound(OrderedLong(c.right), columns.all)
          )
        }
        var matches = 0
        for (_ <- 1 to 4000) {
          val row = InternalRow(columns.all.map(_ => value(t)): _*)
          val holds =
            try isExpected.eval(row) == true
            catch { case _: ArithmeticException => false }
          if (holds) {
            matches += 1
            for ((l, operator, r) <- bounds) {
              def compared =
                operator.of(Literal(l.eval(row), LongType), Literal(r.eval(row), LongType)).eval()
              // A row whose key is out of bounds is a candidate of all.
              val passes =
                try compared == true
                catch { case OutOfBoundsKey => true }
              assert(passes, s"$condition of $row")
            }
          }
        }
        assert(matches > 20, condition)
      }
    }

  test("bounds are next to what they are moved from") {
    val columns = new Columns(DoubleType)
    val near = LessThanOrEqual(Abs(Subtract(columns.x, columns.y)), Literal(3.0))
    val bounds = columns.analyse(near).comparisons
    assert(bounds.size == 2 && bounds.forall(_.right == columns.y))
    val row = InternalRow(1e6, null, null, null, null, null)
    def end(c: Comparison) = bound(c.left, columns.all).eval(row).asInstanceOf[Double]
    val ends = bounds.map(end).sorted
    assert(ends.head <= 1e6 - 3 && ends.head > 1e6 - 3 - 1e-6)
    assert(ends.last >= 1e6 + 3 && ends.last < 1e6 + 3 + 1e-6)
  }

  test("what may be near or far implies nothing") {
    val columns = new Columns(DoubleType)
    import columns._
    val others = Seq(
      GreaterThan(Abs(Subtract(x, y)), Literal(3.0)),
      LessThan(Multiply(Subtract(x, y), Subtract(z, w)), Literal(3.0)),
      LessThan(Add(Multiply(Subtract(x, y), Subtract(x, y)), Subtract(z, w)), Literal(3.0)),
      LessThan(Multiply(x, y), Literal(3.0)),
      LessThan(Abs(Subtract(x, y)), Multiply(r, s)),
      LessThan(Add(Pow(Sqrt(Subtract(x, y)), Literal(-1.0)), Abs(Subtract(z, w))), r),
      LessThan(Multiply(Literal(1e-30), Abs(Subtract(x, y))), Literal(3.0)),
      LessThan(
        Multiply(Literal(1e300), Multiply(Literal(1e-300), Abs(Subtract(x, y)))),
        Literal(3.0)
      ),
      LessThan(
        Cast(Subtract(x, y), DecimalType(38, 10)),
        Literal(Decimal("3.0000000000"), DecimalType(38, 10))
      )
    )
    for (other <- others) assert(analyse(other).conjuncts == Seq(Opaque(other)))
  }

  private def bound(e: Expression, columns: Seq[Attribute]): Expression =
    BindReferences.bindReference(e, AttributeSeq(columns))
}
