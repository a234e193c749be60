package thetajoin.accelerator.patterns

import java.nio.charset.StandardCharsets.UTF_8
import java.util.regex.Pattern

import scala.util.Try

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.Found
import thetajoin.contract.{BytesProber, IndexSpec}

/** The index gives the patterns for which Spark's own expression is true. */
class PatternsIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 200, sizeRange = 30)

  private type Form = (PatternForm, (Expression, Expression) => Expression)

  private val strings: Seq[Form] = Seq(
    (PatternForm.OfString(Place.Anywhere, isInLowerCase = false), Contains(_, _)),
    (PatternForm.OfString(Place.Start, isInLowerCase = false), StartsWith(_, _)),
    (PatternForm.OfString(Place.End, isInLowerCase = false), EndsWith(_, _))
  )
  private val like: Form = (PatternForm.OfLike('|', isFolded = false), Like(_, _, '|'))
  private val regex: Form = (PatternForm.OfRegex(isFolded = false), RLike(_, _))

  /** Parts of UTF-8 as well, which are no characters by themselves. */
  private def bytesOf(parts: String*): Gen[UTF8String] =
    Gen.listOf(Gen.frequency(
      20 -> Gen.oneOf(parts).map(_.getBytes(UTF_8)),
      1 -> Gen.oneOf(-1, -61, -16, -98).map(byte => Array(byte.toByte))
    )).map(parts => UTF8String.fromBytes(parts.flatten.toArray))

  private val text =
    bytesOf("a", "b", "ab", "A", "Bé", "É", "\n", "é", "字", "💡", "_", "|", "\ufffd")
  private val likes =
    Gen.listOf(Gen.oneOf(
      "a",
      "b",
      "ab",
      "%",
      "_",
      "|%",
      "|_",
      "||",
      "é",
      "字",
      "💡"
    )).map(_.mkString)
  private val regexes = Gen.listOf(Gen.frequency(
    5 -> Gen.oneOf("a", "b", "ab", "aB", "É", "é", "💡"),
    3 -> Gen.oneOf("a|b", "(a|bb)", "(?:ab)", "(?<n>b)", "(", ")", "|"),
    3 -> Gen.oneOf("+", "*", "?", "{2}", "{0}", "{1,}", "??", "*+"),
    2 -> Gen.oneOf(
      ".",
      "[ab]",
      "[^a]",
      "\\b",
      "\\\\",
      "\\|",
      "\\n",
      "^",
      "$",
      "\\Qa\\E",
      "(?i)",
      "(?iu)",
      "(?-i)",
      "(?i:aB)",
      "(?=a)",
      "\\w",
      "(?s)",
      "\\1"
    )
  )).map(_.mkString).retryUntil(r => Try(Pattern.compile(r)).isSuccess)

  private def key(values: Any*)(types: DataType*): InternalRow =
    UnsafeProjection.create(types.toArray)(InternalRow.fromSeq(values))

  private def index(form: PatternForm, patterns: Seq[UTF8String]) =
    indexOf(PatternsSpec(0, form, buildsTexts = false, isExact = true), patterns)

  private def indexOf(spec: IndexSpec, strings: Seq[UTF8String]) = {
    val builder = spec.newBuilder(Seq(StringType))
    strings.foreach(s => builder.add(key(s)(StringType)))
    builder.finish()
  }

  private def holds(form: Form, text: UTF8String, pattern: UTF8String): Boolean =
    form._2(Literal(text, StringType), Literal(pattern, StringType)).eval() == true

  private def check(form: Form, texts: Seq[UTF8String], patterns: Seq[UTF8String]) = {
    val built = index(form._1, patterns)
    val prober = built.index.newProber()
    texts.foreach { text =>
      prober.asInstanceOf[BytesProber].probe(text.getBaseObject, text.getBaseOffset, text.numBytes)
      val expected = patterns.indices.filter(i => holds(form, text, patterns(i)))
      assert(Found.all(prober).map(built.order(_)).sorted == expected, s"$text in $patterns")
      prober.probe(key(text)(StringType))
      assert(Found.all(prober).size == expected.size)
    }
    val ofTexts = indexOf(PatternsSpec(0, form._1, buildsTexts = true, isExact = true), texts)
    val textProber = ofTexts.index.newProber()
    patterns.foreach { pattern =>
      val expected = texts.indices.filter(i => holds(form, texts(i), pattern))
      textProber.probe(key(pattern)(StringType))
      assert(Found.all(textProber).map(ofTexts.order(_)).sorted == expected, s"$texts, $pattern")
    }
  }

  test("strings anywhere, at the start and at the end") {
    for (form <- strings) forAll(Gen.listOf(text), Gen.listOf(text))(check(form, _, _))
  }

  test("patterns of LIKE") {
    forAll(Gen.listOf(text), Gen.listOf(likes)) { (texts, patterns) =>
      check(like, texts, patterns.map(UTF8String.fromString))
    }
  }

  test("regular expressions") {
    forAll(Gen.listOf(text), Gen.listOf(regexes)) { (texts, patterns) =>
      check(regex, texts, patterns.map(UTF8String.fromString))
    }
  }

  test("only patterns with equal keys are candidates") {
    val keys = Gen.choose(0L, 3L)
    forAll(Gen.listOf(Gen.zip(keys, text)), Gen.listOf(Gen.zip(keys, likes))) { (texts, patterns) =>
      val builder = PatternsSpec(
        1,
        like._1,
        buildsTexts = false,
        isExact = true
      ).newBuilder(Seq(LongType, StringType))
      patterns.foreach { case (k, p) =>
        builder.add(key(k, UTF8String.fromString(p))(LongType, StringType))
      }
      val built = builder.finish()
      val prober = built.index.newProber()
      texts.foreach { case (k, text) =>
        prober.probe(key(k, text)(LongType, StringType))
        val expected = patterns.indices.filter { i =>
          patterns(i)._1 == k && holds(like, text, UTF8String.fromString(patterns(i)._2))
        }
        assert(Found.all(prober).map(built.order(_)).sorted == expected)
      }
    }
  }

  test("only texts with equal keys are candidates") {
    val types = Seq(LongType, StringType)
    val keys = Gen.choose(0L, 3L)
    forAll(Gen.listOf(Gen.zip(keys, text)), Gen.listOf(Gen.zip(keys, likes))) { (texts, patterns) =>
      val builder = PatternsSpec(1, like._1, buildsTexts = true, isExact = true).newBuilder(types)
      texts.foreach { case (k, t) => builder.add(key(k, t)(types: _*)) }
      val built = builder.finish()
      val prober = built.index.newProber()
      patterns.foreach { case (k, p) =>
        val pattern = UTF8String.fromString(p)
        prober.probe(key(k, pattern)(types: _*))
        val expected =
          texts.indices.filter(i => texts(i)._1 == k && holds(like, texts(i)._2, pattern))
        assert(Found.all(prober).map(built.order(_)).sorted == expected)
      }
    }
  }

  test("texts that share long beginnings, and ends") {
    val random = new scala.util.Random(7)
    def word() = Seq.fill(random.nextInt(3))(('a' + random.nextInt(2)).toChar).mkString
    val (some, long) = ("https://www." * 3, "x" * 80)
    val texts = Seq.fill(1500)(
      Seq("", some, long)(random.nextInt(3)) + word() + Seq("", some, long)(random.nextInt(3))
    )
    val patterns = Seq("", "a", "ab", some, long, some + "a", long + "ba", "a" + some, "b" + long)
    for (form <- strings)
      check(form, texts.map(UTF8String.fromString), patterns.map(UTF8String.fromString))
  }

  test("characters are the same in any case if a regular expression takes them for the same") {
    for (c <- 0 to Character.MAX_CODE_POINT)
      assert(Folding.of(Folding.of(c)) == Folding.of(c))
    val flags = Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE
    val cased = (0 to Character.MAX_CODE_POINT)
      .filter(c => Folding.of(c) != c && !(c >= 0xd800 && c < 0xe000))
    def string(c: Int) = new String(Character.toChars(c))
    for (c <- cased ++ cased.map(Folding.of)) {
      val one = Pattern.compile(Pattern.quote(string(c)), flags)
      val same = cased.filter(o => one.matcher(string(o)).matches())
      assert(same.forall(o => Folding.of(o) == Folding.of(c)), c)
      assert(new String(Folding.of(string(c).getBytes(UTF_8)), UTF_8) == string(Folding.of(c)))
    }
  }

  test("more states than the table has, and more than the automaton may have") {
    val random = new scala.util.Random(7)
    def word(most: Int) =
      Seq.fill(1 + random.nextInt(most))(('a' + random.nextInt(3)).toChar).mkString
    val long = Seq.fill(2000)(word(2000))
    assert(long.map(_.length).sum > 1.5 * (1 << 20))
    val patterns = Seq.fill(300)(word(4)) ++ long
    val texts = Seq.fill(3)(word(200)) :+ long.take(5).mkString :+ long(7) :+ long(9).drop(1)
    for (form <- strings)
      check(form, texts.map(UTF8String.fromString), patterns.map(UTF8String.fromString))
  }

  test("many rows of a group, and few") {
    val random = new scala.util.Random(7)
    def word() = Seq.fill(random.nextInt(4))(('a' + random.nextInt(3)).toChar).mkString
    val types = Seq(LongType, StringType)
    val patterns =
      Seq.tabulate(400)(i => (if (i < 40) i / 2 else 20 + i % 3, s"%${word()}_${word()}%"))
    val builder = PatternsSpec(1, like._1, buildsTexts = false, isExact = true).newBuilder(types)
    patterns.foreach { case (k, p) =>
      builder.add(key(k.toLong, UTF8String.fromString(p))(types: _*))
    }
    val built = builder.finish()
    val prober = built.index.newProber()
    for (k <- 0 to 24; text <- Seq.fill(5)(UTF8String.fromString(word() + word() + word()))) {
      prober.probe(key(k.toLong, text)(types: _*))
      val expected = patterns.indices.filter { i =>
        patterns(i)._1 == k && holds(like, text, UTF8String.fromString(patterns(i)._2))
      }
      assert(Found.all(prober).map(built.order(_)).sorted == expected)
    }
  }

  test("strings of which a text has one that matches a regular expression") {
    def of(regex: String) = RegexStrings.of(regex).anyOf.map(new String(_, UTF_8)).toSet
    assert(of("error: \\d+ in module (\\w+)") == Set(" in module "))
    assert(of("(?:timeout|refused) by") == Set("timeout", "refused"))
    assert(of("^GET /index\\.html$") == Set("GET /index.html"))
    assert(of("colou?r") == Set("colo"))
    assert(of("a+b{2,3}c") == Set("a"))
    assert(of("fail|disk [0-9]+ lost") == Set("fail", "disk "))
    assert(of("(ab)*c+") == Set("c"))
    assert(of("(?i)\\berror\\b") == Set("error"))
    assert(of("(?is-m:Error) at") == Set("Error"))
    assert(RegexStrings.of("code (?iu)Error").isFolded)
    assert(!RegexStrings.of("(?s)Error").isFolded)
    for (
      unknown <-
        Seq(
          "",
          ".*",
          "a|",
          "(?x)error",
          "\\Qab\\E",
          "[a]",
          "x*",
          "(a)\\1",
          "(?<=a)b",
          "a|b*",
          "[\\c]]ab"
        )
    )
      assert(of(unknown) == Set.empty, unknown)
  }

  test("where candidates are tested again, one that can't be used is a candidate of each text") {
    for ((form, bad) <- Seq(like -> "a|", regex -> "ab[z-a]")) {
      val builder =
        PatternsSpec(0, form._1, buildsTexts = false, isExact = false).newBuilder(Seq(StringType))
      Seq(bad, "x").foreach(p => builder.add(key(UTF8String.fromString(p))(StringType)))
      val built = builder.finish()
      val prober = built.index.newProber()
      prober.probe(key(UTF8String.fromString("y"))(StringType))
      assert(Found.all(prober).map(built.order(_)) == Seq(0))
    }
  }

  test("an error is raised once a text has no other pattern") {
    val prober = index(like._1, Seq("a|", "ab").map(UTF8String.fromString)).index.newProber()
    prober.probe(key(UTF8String.fromString("ab"))(StringType))
    assert(prober.next())
    val e = intercept[Exception](prober.next())
    assert(e.getMessage.contains("ESC_AT_THE_END"))
  }
}
