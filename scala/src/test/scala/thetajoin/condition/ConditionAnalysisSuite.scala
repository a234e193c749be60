package thetajoin.condition

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight}
import org.apache.spark.sql.types._

import org.scalatest.funsuite.AnyFunSuite

class ConditionAnalysisSuite extends AnyFunSuite {
  private val x = AttributeReference("x", LongType)()
  private val i = AttributeReference("i", IntegerType)()
  private val f = AttributeReference("f", DoubleType)()
  private val d = AttributeReference("d", DateType)()
  private val y = AttributeReference("y", LongType)()
  private val j = AttributeReference("j", IntegerType)()
  private val g = AttributeReference("g", DoubleType)()
  private val e = AttributeReference("e", DateType)()

  private def analyse(condition: Expression): Seq[Conjunct] =
    ConditionAnalysis.shape(Seq(x, i, f, d), Seq(y, j, g, e), Some(condition)).conjuncts

  private def comparison(condition: Expression): Comparison = analyse(condition) match {
    case Seq(c: Comparison) => c
    case other => fail(s"not a comparison: $other")
  }

  test("one-sided expressions on either side of an operator") {
    assert(comparison(LessThan(
      x,
      y
    )) == Comparison(LessThan(x, y), x, Operator.Less, y, equivalent = true, exact = true))
    assert(comparison(LessThan(
      y,
      x
    )) == Comparison(LessThan(y, x), x, Operator.Greater, y, equivalent = true, exact = true))
    assert(comparison(GreaterThanOrEqual(f, g)).exact)
    val added = GreaterThan(DateAdd(d, Literal(3)), e)
    assert(comparison(added) == Comparison(
      added,
      DateAdd(d, Literal(3)),
      Operator.Greater,
      e,
      equivalent = true,
      exact = true
    ))
  }

  test("a key that can fail is not exact") {
    assert(!comparison(GreaterThan(Add(x, Literal(1L)), y)).exact)
    assert(!comparison(GreaterThan(x, Divide(y, Literal(0L)))).exact)
  }

  test("orientation towards the build side") {
    val c = comparison(LessThan(x, y))
    assert(c.oriented(BuildLeft) == ((x, Operator.Less, y)))
    assert(c.oriented(BuildRight) == ((y, Operator.Greater, x)))
  }

  test("conjuncts of one side, equality keys and the rest") {
    val onlyLeft = GreaterThan(x, Literal(1L))
    val mayFail = GreaterThan(Divide(f, f), Literal(1.0))
    assert(analyse(onlyLeft) == Seq(OneSided(onlyLeft, BuildLeft)))
    assert(analyse(mayFail) == Seq(Opaque(mayFail)))
    assert(analyse(EqualTo(x, y)) == Seq(EquiKey(EqualTo(x, y), x, y, nullSafe = false)))
    assert(analyse(EqualNullSafe(y, x)) == Seq(EquiKey(EqualNullSafe(y, x), x, y, nullSafe = true)))
    val either = Or(LessThan(x, y), LessThan(i, j))
    val unequal = Not(EqualTo(y, x))
    assert(analyse(unequal) == Seq(Unequal(unequal, x, y)))
    assert(analyse(Not(EqualTo(Divide(f, f), g))) == Seq(Opaque(Not(EqualTo(Divide(f, f), g)))))
    assert(analyse(And(And(either, onlyLeft), unequal)) ==
      Seq(Opaque(either), OneSided(onlyLeft, BuildLeft), Unequal(unequal, x, y)))
  }

  test("sums over both sides are isolated as whole numbers, never exactly") {
    val c = comparison(GreaterThan(Subtract(x, y), Literal(3L)))
    assert(!c.exact && c.operator == Operator.GreaterOrEqual)
    assert(c.left.references.toSeq == Seq(x) && c.right.references.toSeq == Seq(y))
    assert(c.left.dataType == LongType && c.right.dataType == LongType)
    assert(comparison(LessThanOrEqual(DateDiff(d, e), Literal(3))).right.references.toSeq == Seq(e))
    assert(comparison(GreaterThan(
      Cast(Subtract(i, j), LongType),
      y
    )).left.references.toSeq == Seq(i))
  }

  test("a distance is bounded from both ends, never exactly") {
    def distance(condition: Expression): (Comparison, Comparison) = analyse(condition) match {
      case Seq(Implied(`condition`, Seq(lower, upper))) => (lower, upper)
      case other => fail(s"not a distance: $other")
    }
    val condition = LessThan(Abs(Subtract(x, y)), Literal(3L))
    for (written <- Seq(condition, GreaterThan(Literal(3L), Abs(Subtract(x, y))))) {
      val (lower, upper) = distance(written)
      assert(!lower.exact && !upper.exact)
      assert(lower.operator == Operator.GreaterOrEqual)
      assert(upper.operator == Operator.LessOrEqual)
      assert(lower.right.semanticEquals(upper.right))
    }
    assert(distance(LessThanOrEqual(Abs(DateDiff(e, d)), i))._2.left.references ==
      AttributeSet(Seq(d, i)))
    val far = GreaterThan(Abs(Subtract(x, y)), Literal(3L))
    assert(analyse(far) == Seq(Opaque(far)))
    val direct = LessThan(Abs(x), y)
    assert(!comparison(direct).exact)
  }

  test("isolated keys agree with exact arithmetic, or fail") {
    val condition = GreaterThan(Subtract(Add(x, Literal(7L)), y), Literal(3L))
    val c = comparison(condition)
    val values = Seq(Long.MinValue, Long.MinValue + 8, -5L, -4L, 0L, 3L, 1L << 61, Long.MaxValue)
    def key(e: Expression, attribute: Attribute, value: Any): Option[Any] =
      try
        Some(BindReferences.bindReference(e, AttributeSeq(Seq(attribute))).eval(InternalRow(value)))
      catch { case _: ArithmeticException => None }
    for (a <- values; b <- values)
      (key(c.left, x, a), key(c.right, y, b)) match {
        case (Some(l: Long), Some(r: Long)) =>
          assert((l > r) == (BigInt(a) + 7 - BigInt(b) > 3), s"$a $b")
        case (l, r) => assert(l.isEmpty || r.isEmpty, s"$a $b")
      }
    assert(key(c.left, x, null).contains(null))
    assert(key(c.left, x, 5L).nonEmpty && key(c.left, x, Long.MaxValue).isEmpty)
  }

  test("a double's place in the order is that of Spark's comparison") {
    val ordered = Seq(
      Double.NegativeInfinity,
      -1.5,
      -Double.MinPositiveValue,
      0.0,
      Double.MinPositiveValue,
      2.0,
      Double.PositiveInfinity,
      Double.NaN
    )
    assert(ordered.map(OrderedLong.ofDouble) == ordered.map(OrderedLong.ofDouble).sorted.distinct)
    assert(OrderedLong.ofDouble(-0.0) == OrderedLong.ofDouble(0.0))
    assert(OrderedLong.ofDouble(java.lang.Double.longBitsToDouble(0xfff8000000000001L)) ==
      OrderedLong.ofDouble(Double.NaN))
  }
}
