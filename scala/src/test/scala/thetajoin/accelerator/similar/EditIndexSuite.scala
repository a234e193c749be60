package thetajoin.accelerator.similar

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{DataType, IntegerType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import thetajoin.accelerator.{Found, KeyedIndexes}
import thetajoin.contract.{NarrowingProber, Prober}

/** The index gives exactly the rows whose texts are as near as Spark's function says, each once. */
class EditIndexSuite extends AnyFunSuite with ScalaCheckPropertyChecks with KeyedIndexes {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 400)

  private val letter = Gen.frequency(
    12 -> Gen.oneOf("a", "b"),
    3 -> Gen.oneOf("c", "A", "z", "0", " "),
    2 -> Gen.oneOf("é", "ж", "字", "😀", "😁")
  )
  private val length =
    Gen.frequency(8 -> Gen.choose(0, 9), 3 -> Gen.choose(0, 30), 1 -> Gen.choose(60, 90))
  private val text = length.flatMap(Gen.listOfN(_, letter).map(_.mkString))

  /** Texts, and texts that are a few edits from one of them. */
  private val texts: Gen[List[String]] = for {
    some <- Gen.choose(0, 25).flatMap(Gen.listOfN(_, text))
    edited <- Gen.listOfN(if (some.isEmpty) 0 else 25, Gen.oneOf(some :+ "").flatMap(edit(_, 3)))
  } yield some ++ edited

  private def edit(text: String, edits: Int): Gen[String] =
    if (edits == 0) Gen.const(text)
    else {
      val letters = text.codePoints().toArray.map(c => new String(Character.toChars(c)))
      for {
        at <- Gen.choose(0, letters.length)
        put <- Gen.frequency(3 -> letter, 1 -> Gen.const(""))
        removed <- Gen.choose(0, 1)
        next <-
          edit((letters.take(at) ++ Seq(put) ++ letters.drop(at + removed)).mkString, edits - 1)
        changed <- Gen.oneOf(next, text)
      } yield changed
    }

  private def distance(a: String, b: String): Int =
    UTF8String.fromString(a).levenshteinDistance(UTF8String.fromString(b))

  private def length(text: String): Int = UTF8String.fromString(text).numChars

  /** Rows with these keys, then a text, and perhaps the most edits. */
  private def rows(types: Seq[DataType], isColumn: Boolean) = {
    val all = types ++ Seq(StringType) ++ (if (isColumn) Seq(IntegerType) else Nil)
    val toUnsafe = UnsafeProjection.create(all.toArray)
    (key: Int, text: String, most: Int) =>
      toUnsafe(InternalRow(
        keyValues(types, key) ++ Seq(UTF8String.fromString(text)) ++ (if (isColumn) Seq(most)
                                                                      else Nil): _*
      )).copy()
  }

  private def check(
      most: MostEdits,
      types: Seq[DataType],
      build: List[(Int, String, Int)],
      probes: List[String]
  )(
      isNear: (String, String, Int) => Boolean
  ): Unit = {
    val isColumn = most == MostEdits.OfRow
    val (row, asked) = (rows(types, isColumn), rows(types, isColumn = false))
    val input = build.map { case (key, text, edits) => row(key, text, edits) }
    val keys = types ++ Seq(StringType) ++ (if (isColumn) Seq(IntegerType) else Nil)
    val built = this.build(EditSpec(types.size, most), keys, input)
    for (probe <- probes; key <- 0 to 2) {
      val expected = build.indices.filter { i =>
        (types.isEmpty || build(i)._1 == key) && isNear(build(i)._2, probe, build(i)._3)
      }
      assert(candidates(built, asked(key, probe, 0)).sorted == expected, s"of '$probe'")
    }
  }

  private val keyed = texts.flatMap(all =>
    Gen.sequence[List[(Int, String, Int)], (Int, String, Int)](
      all.map(t => Gen.zip(Gen.choose(0, 1), Gen.const(t), Gen.choose(-1, 6)))
    )
  )

  test("texts within a number of edits are the ones that a loop finds") {
    forAll(keyTypes, keyed, texts, Gen.choose(-1, 7)) { (types, build, others, most) =>
      check(MostEdits.Constant(most), types, build, build.map(_._2).take(9) ++ others.take(12)) {
        (a, b, _) => distance(a, b) <= most
      }
    }
  }

  test("the number of edits is a column of the build side") {
    forAll(keyTypes, keyed, texts) { (types, build, others) =>
      check(MostEdits.OfRow, types, build, build.map(_._2).take(9) ++ others.take(12)) {
        (a, b, most) => distance(a, b) <= most
      }
    }
  }

  test("texts within a part of the longer one's length are found") {
    forAll(keyTypes, keyed, texts, Gen.oneOf(0.0, 0.1, 0.2, 0.25, 0.5, 0.7, 0.95)) {
      (types, build, others, part) =>
        check(MostEdits.OfLength(part), types, build, build.map(_._2).take(9) ++ others.take(12)) {
          (a, b, _) => distance(a, b) <= (part * math.max(length(a), length(b)) + 1e-6).toInt
        }
    }
  }

  test("the nearest texts are among the candidates, however the join narrows them") {
    forAll(keyTypes, keyed, texts, Gen.choose(1, 5), Gen.oneOf(1, 2, 3)) {
      (types, build, others, most, everyOther) =>
        val (row, all) = (rows(types, isColumn = false), build.map { case (k, t, _) => (k, t) })
        val built = this.build(
          NearestTextsSpec(types.size),
          types :+ StringType,
          all.map { case (key, text) => row(key, text, 0) }
        )
        val prober = built.index.newProber().asInstanceOf[Prober with NarrowingProber]
        for (probe <- build.map(_._2).take(9) ++ others.take(12); key <- 0 to 2) {
          // Another condition that some rows fulfil.
          val matching = all.indices.filter { i =>
            (types.isEmpty || all(i)._1 == key) && i % everyOther == 0
          }
          def rank(i: Int) = distance(all(i)._2, probe)
          prober.probe(row(key, probe, 0))
          var found = List.empty[Int]
          var seen = Set.empty[Int]
          while (prober.next())
            for (position <- Found.run(prober)) {
              val i = built.order(position)
              assert(!seen.contains(i))
              seen += i
              if (matching.contains(i)) found = (rank(i) :: found).sorted.take(most)
              if (found.size == most) prober.narrow(found.last.toLong)
            }
          assert(found == matching.map(rank).sorted.take(most).toList, s"of '$probe'")
        }
    }
  }

  test("of many rows few are looked at for the nearest text") {
    val random = new scala.util.Random(5)
    def name() = Seq.fill(6 + random.nextInt(8))('a' + random.nextInt(26)).map(_.toChar).mkString
    val row = rows(Nil, isColumn = false)
    val data = IndexedSeq.fill(20000)(name())
    val built = build(NearestTextsSpec(0), Seq(StringType), data.map(row(0, _, 0)))
    val prober = built.index.newProber().asInstanceOf[Prober with NarrowingProber]
    for (i <- 0 until 40) {
      // A misspelt name, or another one.
      val probe = if (i % 2 == 0) data(i).patch(3, "z", 1) else name()
      var (nearest, looked) = (Int.MaxValue, 0)
      prober.probe(row(0, probe, 0))
      while (prober.next())
        for (position <- Found.run(prober)) {
          nearest = math.min(nearest, distance(data(built.order(position)), probe))
          looked += 1
          prober.narrow(nearest.toLong)
        }
      assert(nearest == data.map(distance(_, probe)).min)
      assert(looked < 500, s"for '$probe'")
    }
  }
}
