package thetajoin.condition

import scala.util.{Random, Try}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.condition.rules.Rules

/** Conditions on arrays, maps, texts and bits have the same truth in the form that rules give them. */
class FormsSuite extends AnyFunSuite {
  private val rows = 20000
  private val item = StructType.fromDDL("f INT, lo INT, hi INT")
  private val columns: Seq[AttributeReference] = Seq(
    AttributeReference("ints", ArrayType(IntegerType))(),
    AttributeReference("items", ArrayType(item))(),
    AttributeReference("m", MapType(IntegerType, StringType))(),
    AttributeReference("t", StringType)(),
    AttributeReference("h", LongType)(),
    AttributeReference("others", ArrayType(IntegerType))(),
    AttributeReference("v", IntegerType)(),
    AttributeReference("s", StringType)(),
    AttributeReference("g", LongType)(),
    AttributeReference("i", IntegerType)(),
    AttributeReference("j", IntegerType)()
  )
  private val Seq(ints, items, m, t, h, others, v, s, g, i, j) = columns: @unchecked

  private def text(random: Random): Any = orNull(random)(
    UTF8String.fromString(Seq.fill(random.nextInt(4))("ab,".charAt(random.nextInt(3))).mkString)
  )
  private def int(random: Random): Any = orNull(random)(random.nextInt(4))
  private def orNull(random: Random)(value: => Any): Any =
    if (random.nextInt(10) == 0) null else value
  private def array(random: Random, most: Int)(value: => Any): Any =
    orNull(random)(new GenericArrayData(Array.fill[Any](random.nextInt(most + 1))(value)))

  /** Few bits of another number are turned, or any. */
  private def near(random: Random, number: Long): Long =
    if (random.nextInt(3) == 0) number ^ (1L << random.nextInt(32)) ^ (1L << random.nextInt(32))
    else random.nextLong()

  private def row(random: Random): InternalRow = {
    val (first, second) = (random.nextLong(), random.nextInt())
    row(random, first, near(random, first), second, near(random, second.toLong).toInt)
  }

  private def row(random: Random, h: Long, g: Long, i: Int, j: Int): InternalRow = InternalRow(
    array(random, 3)(int(random)),
    array(random, 3)(orNull(random)(InternalRow(int(random), int(random), int(random)))),
    orNull(random) {
      val keys = random.shuffle(Seq(0, 1, 2, 3)).take(random.nextInt(4))
      ArrayBasedMapData(keys.toArray[Any], keys.map(_ => text(random)).toArray[Any])
    },
    text(random),
    orNull(random)(h),
    array(random, 3)(int(random)),
    int(random),
    text(random),
    orNull(random)(g),
    orNull(random)(i),
    orNull(random)(j)
  )

  private def ofElement(body: Expression => Expression): ArrayExists = {
    val x = NamedLambdaVariable("x", item, nullable = true)
    ArrayExists(items, LambdaFunction(body(x), Seq(x)), followThreeValuedLogic = true)
  }
  private def field(x: Expression, ordinal: Int) = GetStructField(x, ordinal)
  private val zero = Literal(0)
  private val extract = RegExpExtract(t, s, zero)
  private def last(n: Expression) = {
    val ofText = Substring(t, UnaryMinus(n), Literal(Int.MaxValue))
    val empty = Literal(UTF8String.fromString(""), StringType)
    If(IsNull(t), Literal(null, StringType), If(LessThanOrEqual(n, zero), empty, ofText))
  }
  private def size(array: Expression) = Size(array, legacySizeOfNull = false)

  private val empty = Literal(UTF8String.fromString(""), StringType)
  private val element = NamedLambdaVariable("e", IntegerType, nullable = true)
  private def entries(map: Expression, key: Expression, least: Expression) = {
    val k = NamedLambdaVariable("k", IntegerType, nullable = false)
    val v = NamedLambdaVariable("v", StringType, nullable = true)
    MapFilter(map, LambdaFunction(And(EqualTo(k, key), GreaterThan(v, least)), Seq(k, v)))
  }
  private def ofAll(body: Expression => Expression) = {
    val n = NamedLambdaVariable("n", IntegerType, nullable = true)
    ArrayForAll(others, LambdaFunction(body(n), Seq(n)))
  }

  for {
    (name, condition) <- Seq[(String, Expression)](
      "array_position" -> GreaterThan(ArrayPosition(ints, v), Literal(0L)),
      "array_position <>" -> Not(EqualTo(ArrayPosition(ints, v), Literal(0L))),
      "map entry" -> EqualTo(GetMapValue(m, v), s),
      "element_at" -> EqualTo(s, ElementAt(m, v)),
      "sequence" -> ArrayContains(new Sequence(v, size(others)), size(ints)),
      "find_in_set" -> GreaterThan(FindInSet(s, t), zero),
      "exists a field" -> ofElement(x => EqualTo(field(x, 0), v)),
      "exists a field and more" -> ofElement(x =>
        And(EqualTo(v, field(x, 0)), GreaterThanOrEqual(field(x, 1), v))
      ),
      "exists a range" -> ofElement(x =>
        And(GreaterThanOrEqual(v, field(x, 1)), LessThan(v, field(x, 2)))
      ),
      "regexp_instr" -> GreaterThan(RegExpInStr(t, s, zero), zero),
      "regexp_extract" -> Not(EqualTo(extract, Literal(UTF8String.fromString(""), StringType))),
      "regexp_extract_all" -> GreaterThan(size(RegExpExtractAll(t, s, zero)), zero),
      "split" -> GreaterThan(size(StringSplit(t, s, Literal(-1))), Literal(1)),
      "right" -> EqualTo(last(Length(s)), s),
      "right of a number" -> EqualTo(s, last(v)),
      "replace" -> LessThan(
        Length(StringReplace(t, s, Literal(UTF8String.fromString(""), StringType))),
        Length(t)
      ),
      "regexp_extract_all more than once" ->
        GreaterThan(size(RegExpExtractAll(t, s, zero)), Literal(1)),
      "regexp_substr" -> If(EqualTo(extract, empty), Literal.FalseLiteral, IsNotNull(extract)),
      "left of a number" -> EqualTo(Substring(t, Literal(1), v), s),
      "replace another" -> Not(EqualTo(StringReplace(t, s, Literal("x")), t)),
      "substring_index" -> Not(EqualTo(t, SubstringIndex(t, s, Literal(1)))),
      "the part before" -> EqualTo(SubstringIndex(t, Literal(","), v), s),
      "times that it is found" -> GreaterThanOrEqual(
        Divide(
          Cast(Subtract(Length(t), Length(StringReplace(t, s, empty))), DoubleType),
          Cast(Length(s), DoubleType)
        ),
        Literal(1.0)
      ),
      "a value of a map" -> LessThan(GetMapValue(m, v), s),
      "entries of a map" -> GreaterThan(size(entries(m, v, s)), zero),
      "all elements" -> ofAll(n =>
        ArrayExists(
          ints,
          LambdaFunction(EqualTo(element, n), Seq(element)),
          followThreeValuedLogic = true
        )
      ),
      "the key that CASE chooses" ->
        EqualTo(v, CaseWhen(Seq(EqualTo(s, t) -> Length(t), IsNull(t) -> Length(s)), None)),
      "bits" -> LessThanOrEqual(BitwiseCount(BitwiseXor(h, g)), Literal(2)),
      "bits of integers" -> LessThan(BitwiseCount(BitwiseXor(i, j)), Literal(8))
    )
  } test(name) {
    val random = new Random(11)
    val written = Rules.rewritten(condition)
    assert(written != condition)
    assert(Rules.rewritten(written) == written)
    val implied = written match {
      case And(implied, `condition`) => Some(bound(implied))
      case _ => None
    }
    val (before, after) = (bound(condition), bound(written))
    var (matches, passed) = (0, 0)
    for (_ <- 1 to rows) {
      val values = row(random)
      val expected = isTrue(before, values)
      assert(isTrue(after, values) == expected, s"$condition of $values, as $written")
      if (expected) matches += 1
      if (implied.forall(isTrue(_, values))) passed += 1
    }
    assert(matches > 20, condition)
    assert(implied.isEmpty || passed < rows * 3 / 4, s"$written leaves out $passed of $rows")
  }

  private def bound(e: Expression): Expression =
    BindReferences.bindReference(e, AttributeSeq(columns))

  private def isTrue(e: Expression, values: InternalRow): Boolean =
    Try(e.eval(values)).toOption.contains(true)

  test("a value that CASE keeps from failing is no alternative") {
    val guarded = CaseWhen(Seq(EqualTo(j, Literal(0)) -> i), Some(IntegralDivide(i, j)))
    val condition = EqualTo(Cast(v, LongType), guarded)
    assert(Rules.rewritten(condition) == condition)
  }

  test("the part of a text before so many strings may be empty without one") {
    for (count <- Seq(zero, v)) {
      val condition = Not(EqualTo(SubstringIndex(t, s, count), t))
      assert(Rules.rewritten(condition) == condition)
    }
  }

  test("a condition that is true if nothing is found has no form") {
    val any = GreaterThan(i, j)
    val conditions = Seq(
      If(EqualTo(extract, empty), Literal.FalseLiteral, any),
      EqualTo(If(any, Literal("x"), Substring(t, Literal(3), Literal(Int.MaxValue))), s)
    )
    conditions.foreach(condition => assert(Rules.rewritten(condition) == condition))
  }
}
