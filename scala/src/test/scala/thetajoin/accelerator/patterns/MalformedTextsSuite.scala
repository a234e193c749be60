package thetajoin.accelerator.patterns

import java.nio.charset.StandardCharsets.UTF_8
import java.util.HexFormat

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.Found
import thetajoin.contract.OrderedIndex

/** Of texts and patterns with bytes that are no characters, the index gives those for which Spark's own expression is true. */
class MalformedTextsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 100, sizeRange = 12)

  /** Characters, and bytes that are none: lone, cut short, longer than needed, halves of a pair, beyond the last. */
  private val strings: Gen[List[UTF8String]] = {
    val characters =
      Seq("0", "5", "C", "c", "é", "É", "İ", "字", "💡", "\ufffd").map(_.getBytes(UTF_8))
    val others = Seq("80", "b0", "bf", "c3", "e5ad", "f09f92", "c0b0", "eda080", "f4908080", "ff")
    val parts = characters ++ others.map(HexFormat.of.parseHex(_))
    val string = Gen.choose(0, 5).flatMap(Gen.listOfN(_, Gen.oneOf(parts)))
      .map(of => UTF8String.fromBytes(of.flatten.toArray))
    Gen.listOf(string)
  }

  private val conjuncts: Seq[(Expression, Expression) => Expression] = Seq(
    Contains(_, _),
    StartsWith(_, _),
    EndsWith(_, _),
    (text, string) => GreaterThan(StringInstr(text, string), Literal(0)),
    (text, string) => GreaterThan(StringLocate(string, text, Literal(1)), Literal(0)),
    (text, string) => EqualTo(Substring(text, Literal(1), Length(string)), string),
    Like(_, _, '|'),
    (text, string) => Like(text, around(string), '|'),
    (text, string) => Like(Lower(text), Lower(around(string)), '|'),
    RLike(_, _)
  )

  private def around(string: Expression): Expression = {
    val any = Literal.create("%", string.dataType)
    Concat(Seq(any, string, any))
  }

  for {
    collation <- Seq("UTF8_BINARY", "UTF8_LCASE")
    columns = Seq("text", "pattern").map(AttributeReference(_, StringType(collation))())
    conjunct <- conjuncts.map(_(columns.head, columns.last))
  } test(s"$collation, $conjunct") {
    val condition = LikeOrRegexCondition.of(conjunct).get
    val holds = BindReferences.bindReference(conjunct, AttributeSeq(columns))
    forAll(strings, strings) { (texts, patterns) =>
      val expected = for {
        text <- texts.indices
        pattern <- patterns.indices
        if holds.eval(InternalRow(texts(text), patterns(pattern))) == true
      } yield (text, pattern)
      def found(buildsTexts: Boolean, built: Seq[UTF8String], probed: Seq[UTF8String]) =
        candidates(condition, columns, buildsTexts, built, probed)
      val ofPatterns = found(buildsTexts = false, patterns, texts)
      val ofTexts = found(buildsTexts = true, texts, patterns)
      for (found <- Seq(ofPatterns, ofTexts.map(_.swap))) {
        assert(found.distinct == found)
        if (condition.isDecided) assert(found.toSet == expected.toSet)
        else assert(expected.filterNot(found.toSet).isEmpty)
      }
    }
  }

  /** Each with a built string. */
  private def candidates(
      condition: LikeOrRegexCondition,
      columns: Seq[Attribute],
      buildsTexts: Boolean,
      built: Seq[UTF8String],
      probed: Seq[UTF8String]
  ): Seq[(Int, Int)] = {
    val spec = PatternsSpec(0, condition.form, buildsTexts, isExact = condition.isDecided)
    def keys(ofTexts: Boolean) =
      UnsafeProjection.create(Seq(if (ofTexts) condition.text else condition.pattern), columns)
    val (toBuildKey, toProbeKey) = (keys(buildsTexts), keys(!buildsTexts))
    val builder = spec.newBuilder(Seq(condition.text.dataType))
    built.foreach(string => builder.add(toBuildKey(InternalRow(string, string))))
    val OrderedIndex(index, order) = builder.finish()
    val prober = index.newProber()
    probed.indices.flatMap { i =>
      prober.probe(toProbeKey(InternalRow(probed(i), probed(i))))
      Found.all(prober).map(position => (i, order(position)))
    }
  }
}
