package thetajoin.condition

import scala.util.{Random, Try}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateMutableProjection
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.condition.rules._

/**
 * What rules say of a condition, on random rows with nulls, NaN and extremes. Where the condition is true, so are the
 * comparisons that it implies, and a rewritten condition is true for the same rows.
 */
class RulesSuite extends AnyFunSuite {
  private val rows = 20000

  private final class Columns(t: DataType, seed: Int) {
    private val random = new Random(seed)
    private def column(name: String) = AttributeReference(name, t)()
    val (x, z, y, w) = (column("x"), column("z"), column("y"), column("w"))
    val left: Seq[Attribute] = Seq(x, z)
    val right: Seq[Attribute] = Seq(y, w)
    val all: Seq[Attribute] = left ++ right

    def literal(value: Int): Literal = t match {
      case DateType => Literal(value, t)
      case TimestampType => Literal(value.toLong, t)
      case _ => Literal(Cast(Literal(value), t).eval(), t)
    }
    def row(): InternalRow = InternalRow(all.map(_ => RulesSuite.value(t, random)): _*)
    def bound(e: Expression): Expression = BindReferences.bindReference(e, AttributeSeq(all))
    def implied(condition: Expression): Seq[Comparison] =
      ConditionAnalysis.shape(left, right, Some(condition)).comparisons
  }

  private def isTrue(e: Expression, row: InternalRow): Boolean =
    Try(e.eval(row)).toOption.contains(true)

  /** Both plain and with sums open, as in a join with equality keys. */
  private def checkImplied(t: DataType, condition: Columns => Expression, least: Int): Unit = {
    val columns = new Columns(t, seed = 5)
    val source = condition(columns)
    val found = columns.implied(source)
    assert(found.size >= least, s"$source: $found")
    val forms = (found ++ found.map(_.plain)).map { c =>
      val keys = Seq(c.left, c.right).map(key => if (c.isNumeric) OrderedLong.of(key) else key)
      columns.bound(c.operator.of(keys.head, keys.last))
    }
    val isExpected = columns.bound(source)
    var (matches, passed) = (0, 0L)
    for (_ <- 1 to rows) {
      val row = columns.row()
      val holds = isTrue(isExpected, row)
      for (form <- forms) {
        val passes =
          try form.eval(row) == true
          catch { case _: ArithmeticException => true }
        if (holds) assert(passes, s"${t.sql}: $source of $row, by $form")
        if (passes) passed += 1
      }
      if (holds) matches += 1
    }
    assert(matches > 50 && passed < rows.toLong * forms.size, source)
  }

  private val types =
    Seq(IntegerType, LongType, DoubleType, DateType, DecimalType(12, 2), TimestampType)
  private val numbers = Seq(IntegerType, LongType, DoubleType)

  private def implies(name: String, least: Int, of: Seq[DataType] = types)(
      condition: Columns => Expression
  ): Unit = test(name)(of.foreach(checkImplied(_, condition, least)))

  implies("greatest <= least", 2)(c =>
    LessThanOrEqual(Greatest(Seq(c.x, c.y)), Least(Seq(c.z, c.w)))
  )
  implies("least - greatest > 0", 2, numbers)(c =>
    GreaterThan(Subtract(Least(Seq(c.z, c.w)), Greatest(Seq(c.x, c.y))), c.literal(0))
  )
  implies("greatest in a sum", 2, numbers)(c =>
    LessThan(Add(Greatest(Seq(c.x, c.y)), c.z), Add(c.w, c.literal(1)))
  )
  implies("an end that is open where it is null", 1)(c =>
    Or(IsNull(c.w), LessThan(c.x, c.w))
  )
  implies("an end that is open by a flag of the other side", 1)(c =>
    Or(GreaterThan(c.w, c.literal(3)), GreaterThanOrEqual(c.x, c.y))
  )
  implies("an interval with open ends", 2)(c =>
    And(GreaterThanOrEqual(c.x, c.y), Or(IsNull(c.w), LessThan(c.x, c.w)))
  )
  implies("coalesce with a value of the other side", 1)(c =>
    LessThanOrEqual(c.x, Coalesce(Seq(c.w, c.x)))
  )
  implies("coalesce of both sides", 1)(c => GreaterThanOrEqual(Coalesce(Seq(c.x, c.y)), c.w))
  implies("CASE as a value", 1)(c =>
    LessThan(CaseWhen(Seq(LessThan(c.z, c.literal(2)) -> c.x), c.y), c.w)
  )
  implies("CASE as a value of the other side", 1)(c =>
    LessThanOrEqual(c.x, CaseWhen(Seq(LessThan(c.z, c.literal(2)) -> c.y), c.w))
  )
  implies("CASE as a condition", 1)(c =>
    CaseWhen(Seq(IsNull(c.w) -> Literal.TrueLiteral), LessThan(c.x, c.w))
  )
  implies("if as a condition", 1)(c =>
    If(GreaterThan(c.x, c.literal(3)), LessThan(c.x, c.w), LessThanOrEqual(c.x, c.w))
  )
  implies("in the order of two columns", 1)(c =>
    Or(GreaterThan(c.x, c.y), And(EqualTo(c.x, c.y), GreaterThan(c.z, c.w)))
  )
  implies("either interval has the start of the other", 2)(c =>
    Or(
      And(LessThanOrEqual(c.y, c.x), LessThanOrEqual(c.x, c.w)),
      And(LessThanOrEqual(c.x, c.y), LessThanOrEqual(c.y, c.z))
    )
  )
  for (most <- Seq(1.5, 1.0, -1.0, -0.5)) {
    implies(s"a quotient up to $most", 2, Seq(DoubleType))(c =>
      LessThanOrEqual(Divide(c.x, c.y), Literal(most))
    )
    implies(s"a quotient above $most", 2, Seq(DoubleType))(c =>
      GreaterThan(Divide(c.x, c.y), Literal(most))
    )
  }
  implies("a quotient of two bounds", 2, Seq(DoubleType))(c =>
    And(
      GreaterThanOrEqual(Divide(c.x, c.y), Literal(0.5)),
      LessThan(Divide(c.x, c.y), Literal(1.0))
    )
  )
  implies("a quotient of whole numbers", 2, Seq(IntegerType, LongType))(c =>
    GreaterThan(Divide(Cast(c.x, DoubleType), Cast(c.y, DoubleType)), Literal(1.0))
  )
  for (most <- Seq(1.0, 4.0)) {
    implies(s"a distance in parts of a column up to $most", 2, Seq(DoubleType))(c =>
      LessThanOrEqual(Divide(Abs(Subtract(c.x, c.y)), c.y), Literal(most))
    )
    implies(s"a distance times a column up to $most", 2, Seq(DoubleType))(c =>
      LessThanOrEqual(Multiply(Abs(Subtract(c.x, c.y)), c.x), Literal(most))
    )
  }
  implies("a distance in parts of a column", 2, Seq(DoubleType))(c =>
    LessThanOrEqual(
      Multiply(Divide(Abs(Subtract(c.x, c.y)), c.y), Literal(10.0)),
      Literal(4.0)
    )
  )
  implies("a distance times a column", 2, Seq(DoubleType))(c =>
    LessThan(Multiply(Abs(Subtract(c.x, c.y)), c.w), Literal(2.0))
  )
  implies("a difference that wraps around, or fails", 1, Seq(IntegerType, LongType))(c =>
    LessThanOrEqual(Subtract(c.x, c.y), c.literal(2))
  )

  implies("a difference of decimals", 2, Seq(DecimalType(12, 2)))(c =>
    LessThanOrEqual(
      Abs(Subtract(c.x, c.y)),
      Literal(Decimal(BigDecimal("1.000"), 13, 3), DecimalType(13, 3))
    )
  )
  for ((unit, i) <- Seq("MICROSECOND", "MINUTE", "MONTH", "YEAR").zipWithIndex) {
    def times(c: Columns) = {
      val length = Literal(Seq(1L, 7L * 1000000, 400L * 3600 * 1000000, 4000L * 3600 * 1000000)(i))
      def time(e: Expression) = PreciseTimestampConversion(
        Multiply(PreciseTimestampConversion(e, TimestampType, LongType), length),
        LongType,
        TimestampType
      )
      TimestampDiff(unit, time(c.x), time(c.y), Some("America/New_York"))
    }
    implies(s"a difference in $unit", 1, Seq(TimestampType))(c =>
      LessThanOrEqual(times(c), Literal(2L))
    )
    implies(s"a difference in $unit from below", 1, Seq(TimestampType))(c =>
      GreaterThan(times(c), Literal(-1L))
    )
  }
  implies("months between", 1, Seq(TimestampType))(c =>
    GreaterThan(MonthsBetween(c.x, c.y, Literal(true), Some("America/New_York")), Literal(-0.5))
  )
  implies("a difference of dates", 1, Seq(DateType))(c =>
    LessThan(SubtractDates(c.x, c.y), Literal(86400000000L, DayTimeIntervalType(0, 0)))
  )
  private def difference(c: Columns) = TimestampDiff("MICROSECOND", c.x, c.y, Some("UTC"))
  private def timesSevenHundred(e: Expression) = PreciseTimestampConversion(
    Multiply(PreciseTimestampConversion(e, TimestampType, LongType), Literal(700L)),
    LongType,
    TimestampType
  )
  implies("the magnitude of a difference in units", 2, Seq(TimestampType))(c =>
    LessThanOrEqual(
      Abs(TimestampDiff(
        "MILLISECOND",
        timesSevenHundred(c.x),
        timesSevenHundred(c.y),
        Some("UTC")
      )),
      Literal(2L)
    )
  )
  implies("a difference in units up to a column", 1, Seq(TimestampType))(c =>
    LessThan(
      difference(c),
      PreciseTimestampConversion(c.w, TimestampType, LongType)
    )
  )
  implies("a difference in a list", 2, Seq(IntegerType, DoubleType))(c =>
    In(Subtract(c.x, c.y), Seq(c.literal(-1), c.literal(1), Literal(null, c.x.dataType)))
  )
  implies("a difference in a set", 2, Seq(LongType))(c =>
    InSet(Subtract(c.x, c.y), Set[Any](-1L, 2L, null))
  )
  implies("a difference that is equal", 2, Seq(IntegerType, LongType, DoubleType))(c =>
    EqualTo(Subtract(c.x, c.y), Subtract(c.w, c.literal(1)))
  )
  implies("a difference of dates that is equal", 2, Seq(DateType))(c =>
    EqualTo(DateDiff(c.x, c.y), Literal(2))
  )
  implies("the greatest of two magnitudes", 4, Seq(DoubleType))(c =>
    LessThan(Greatest(Seq(Abs(Subtract(c.x, c.y)), Abs(Subtract(c.z, c.w)))), Literal(1.0))
  )
  implies("a gap", 2, numbers)(c =>
    LessThanOrEqual(Greatest(Seq(Subtract(c.y, c.z), Subtract(c.x, c.w))), c.literal(1))
  )
  private def outside(low: Expression, value: Expression, high: Expression) =
    Greatest(Seq(Subtract(low, value), Literal(0.0), Subtract(value, high)))
  implies("a distance from a box", 2, Seq(DoubleType))(c =>
    LessThanOrEqual(
      Sqrt(Add(Pow(outside(c.y, c.x, c.w), Literal(2.0)), Pow(Subtract(c.z, c.w), Literal(2.0)))),
      Literal(1.5)
    )
  )
  implies("a rounded difference", 2, Seq(DoubleType, DecimalType(12, 2)))(c =>
    LessThanOrEqual(
      Abs(Round(Subtract(c.x, c.y), Literal(0))),
      Literal(
        Cast(Literal(1), Round(Subtract(c.x, c.y), Literal(0)).dataType).eval(),
        Round(Subtract(c.x, c.y), Literal(0)).dataType
      )
    )
  )
  for (least <- Seq(-1, 0, 1)) {
    implies(s"a floor from $least", 1, Seq(IntegerType, LongType))(c =>
      GreaterThan(
        Floor(Divide(Cast(Subtract(c.x, c.y), DoubleType), Literal(3.0))),
        Literal(least.toLong)
      )
    )
    implies(s"a whole quotient up to $least", 1, Seq(LongType))(c =>
      LessThanOrEqual(IntegralDivide(Subtract(c.x, c.y), Literal(2L)), Literal(least.toLong))
    )
    implies(s"a whole quotient from $least", 1, Seq(LongType))(c =>
      GreaterThanOrEqual(IntegralDivide(Subtract(c.x, c.y), Literal(2L)), Literal(least.toLong))
    )
  }
  implies("a quotient less a number", 2, Seq(DoubleType))(c =>
    LessThanOrEqual(Abs(Subtract(Divide(c.x, c.y), Literal(1.0))), Literal(0.5))
  )
  for (end <- Seq(-0.5, 0.5)) {
    implies(s"a difference in parts of one value above $end", 2, Seq(DoubleType))(c =>
      GreaterThanOrEqual(Divide(Subtract(c.y, c.x), c.y), Literal(end))
    )
    implies(s"a difference in parts of one value up to $end", 2, Seq(DoubleType))(c =>
      LessThan(Divide(Subtract(c.y, c.x), c.y), Literal(end))
    )
  }
  implies("a distance in parts of a column up to a column", 2, Seq(DoubleType))(c =>
    LessThanOrEqual(Divide(Abs(Subtract(c.x, c.y)), c.y), c.w)
  )
  private val decimals = Seq(DecimalType(12, 2), DecimalType(20, 6))
  private def decimal(number: String) = {
    val value = BigDecimal(number)
    Literal(Decimal(value), DecimalType(value.precision.max(value.scale), value.scale))
  }
  implies("a quotient of decimals", 2, decimals)(c =>
    LessThanOrEqual(Divide(c.x, c.y), decimal("1.5"))
  )
  implies("a quotient of decimals from below", 2, decimals)(c =>
    GreaterThan(Divide(c.x, c.y), decimal("0.5"))
  )
  implies("a distance of decimals in parts of a column", 2, decimals)(c =>
    LessThan(Divide(Abs(Subtract(c.x, c.y)), c.y), decimal("0.6"))
  )
  implies("a distance of decimals up to a product", 2, Seq(DecimalType(12, 2)))(c =>
    LessThanOrEqual(
      Cast(Abs(Subtract(c.x, c.y)), DecimalType(25, 4)),
      Multiply(c.w, Cast(c.y, DecimalType(12, 2)))
    )
  )
  private def degrees(e: Expression) = Multiply(e, Literal(20.0))
  private def radians(e: Expression) = ToRadians(degrees(e))
  implies("an arc by the law of cosines", 2, Seq(DoubleType))(c =>
    LessThanOrEqual(
      Multiply(
        Literal(6371.0),
        Acos(Add(
          Multiply(Sin(radians(c.x)), Sin(radians(c.y))),
          Multiply(
            Multiply(Cos(radians(c.x)), Cos(radians(c.y))),
            Cos(ToRadians(Subtract(degrees(c.z), degrees(c.w))))
          )
        ))
      ),
      Literal(2000.0)
    )
  )
  implies("an arc by cosines of differences", 2, Seq(DoubleType)) { c =>
    def half(a: Expression, b: Expression) = Divide(
      Subtract(
        Literal(1.0),
        Cos(Multiply(Subtract(degrees(a), degrees(b)), Literal(0.017453292519943295)))
      ),
      Literal(2.0)
    )
    LessThanOrEqual(
      Multiply(
        Literal(12742.0),
        Asin(Sqrt(Add(
          half(c.x, c.y),
          Multiply(Multiply(Cos(radians(c.x)), Cos(radians(c.y))), half(c.z, c.w))
        )))
      ),
      Literal(2000.0)
    )
  }
  implies("structs", 1)(c =>
    LessThan(CreateStruct(Seq(c.x, c.z)), CreateStruct(Seq(c.y, c.w)))
  )

  private def rewrites(name: String, by: ConditionRule, of: Seq[DataType] = types)(
      condition: Columns => Expression
  ): Unit = test(name)(of.foreach { t =>
    val columns = new Columns(t, seed = 6)
    val source = condition(columns)
    val rewritten = by.rewritten(source).getOrElse(fail(s"$source is not rewritten"))
    val (before, after) = (columns.bound(source), columns.bound(rewritten))
    var matches = 0
    for (_ <- 1 to rows) {
      val row = columns.row()
      val expected = isTrue(before, row)
      assert(isTrue(after, row) == expected, s"${t.sql}: $source of $row, as $rewritten")
      if (expected) matches += 1
    }
    assert(matches > 20, source)
  })

  private def flag(condition: Expression, value: Int = 1): Expression =
    CaseWhen(Seq(condition -> Literal(value)), Literal(0))

  rewrites("a list of values of both sides", AnyOfList)(c => In(c.x, Seq(c.y, c.literal(2))))
  rewrites("coalesce with its own value", OwnValue)(c => EqualTo(c.x, Coalesce(Seq(c.y, c.x))))
  rewrites("if with its own value", OwnValue)(c =>
    EqualTo(If(EqualTo(c.y, c.literal(2)), c.x, c.y), c.x)
  )
  rewrites("CASE with its own value last", OwnValue)(c =>
    EqualTo(c.x, CaseWhen(Seq(GreaterThan(c.w, c.literal(2)) -> c.y), c.x))
  )
  rewrites("null-safe by hand", NullSafe)(c =>
    Or(EqualTo(c.x, c.y), And(IsNull(c.x), IsNull(c.y)))
  )
  rewrites("coalesce with false", OrFalse)(c =>
    Coalesce(Seq(EqualTo(c.x, c.y), Literal.FalseLiteral))
  )
  rewrites("a condition that is true", OrFalse)(c =>
    EqualNullSafe(EqualTo(c.x, c.y), Literal.TrueLiteral)
  )
  rewrites("CASE with true", Branches)(c =>
    CaseWhen(
      Seq(IsNull(c.y) -> Literal.TrueLiteral, GreaterThan(c.z, c.w) -> Literal.TrueLiteral),
      EqualTo(c.x, c.y)
    )
  )
  rewrites("CASE with false", Branches)(c =>
    CaseWhen(Seq(GreaterThan(c.z, c.w) -> Literal.FalseLiteral), EqualTo(c.x, c.y))
  )
  rewrites("CASE without another value", Branches)(c =>
    CaseWhen(Seq(GreaterThan(c.z, c.w) -> EqualTo(c.x, c.y)), None)
  )
  rewrites("if with false", Branches)(c =>
    If(GreaterThan(c.z, c.w), EqualTo(c.x, c.y), Literal.FalseLiteral)
  )
  rewrites("CASE = 1", Flags)(c =>
    EqualTo(
      CaseWhen(
        Seq(
          EqualTo(c.x, c.y) -> Literal(1),
          EqualTo(c.z, c.y) -> Literal(2),
          EqualTo(c.x, c.w) -> Literal(1)
        ),
        Literal(0)
      ),
      Literal(1)
    )
  )
  rewrites("CASE = 0", Flags)(c => EqualTo(flag(EqualTo(c.x, c.y)), Literal(0)))
  rewrites("flags >= 2", Flags)(c =>
    GreaterThanOrEqual(Add(flag(EqualTo(c.x, c.y)), flag(EqualTo(c.z, c.w))), Literal(2))
  )
  rewrites("weighted flags", Flags)(c =>
    GreaterThan(
      Add(Add(flag(EqualTo(c.x, c.y), 5), flag(EqualTo(c.z, c.w), 3)), flag(EqualTo(c.x, c.w), 3)),
      Literal(4)
    )
  )
  rewrites("conditions as numbers", Flags)(c =>
    GreaterThanOrEqual(
      Add(Cast(EqualTo(c.x, c.y), IntegerType), Cast(EqualTo(c.z, c.w), IntegerType)),
      Literal(1)
    )
  )

  test("each rule says what it does") {
    val rules = Rules.builtIn
    assert(rules.forall(r => r.readings.nonEmpty && r.proof.endsWith(".")))
    assert(rules.flatMap(_.readings).map(_.form).distinct.size == rules.map(_.readings.size).sum)
  }

  test("sums are the same in generated code") {
    val columns = new Columns(LongType, seed = 7)
    for {
      (limit, beyond) <- Seq((BoundedSum.NoLimit, None), (1L << 60, Some(Long.MaxValue)))
      sum = BoundedSum(Seq(columns.x, columns.y, columns.z), Seq(false, true, false), limit, beyond)
      generated = GenerateMutableProjection.generate(Seq(columns.bound(sum)))
      _ <- 1 to rows
    } {
      val row = columns.row()
      val interpreted = columns.bound(sum).eval(row)
      assert(generated(row).get(0, LongType) == interpreted)
      val terms = Seq(row.get(0, LongType), row.get(2, LongType), row.get(1, LongType))
      if (limit == BoundedSum.NoLimit && !terms.contains(null)) {
        val sum = terms.map(t => BigInt(t.asInstanceOf[Long])).sum - 2 * BigInt(row.getLong(2))
        assert(BigInt(interpreted.asInstanceOf[Long]) ==
          sum.max(Long.MinValue).min(Long.MaxValue))
      }
    }
  }
}

private object RulesSuite {
  def value(t: DataType, random: Random): Any =
    if (random.nextInt(8) == 0) null
    else {
      val small = random.nextInt(9) - 2
      val isOdd = random.nextInt(25) == 0
      t match {
        case DoubleType if isOdd =>
          val odd =
            Seq(Double.NaN, -0.0, Double.PositiveInfinity, Double.NegativeInfinity, 1e308, -1e308)
          odd(random.nextInt(odd.size))
        case DoubleType => small / 2.0
        case IntegerType | DateType =>
          if (isOdd) (if (random.nextBoolean()) Int.MaxValue else Int.MinValue) else small
        case d: DecimalType => Decimal(BigDecimal(small) / 2, d.precision, d.scale)
        case StringType => UTF8String.fromString(small.toString)
        case _ =>
          if (isOdd)
            (if (random.nextBoolean()) Long.MaxValue else Long.MinValue) - small.toLong.min(0)
          else small.toLong
      }
    }
}
