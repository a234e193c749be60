package thetajoin.testkit

import org.apache.spark.sql.types.{DataType, IntegerType}

import org.scalacheck.Gen

import thetajoin.accelerator.anyof.AnyOfAccelerator
import thetajoin.accelerator.boxes.BoxesAccelerator
import thetajoin.accelerator.containment.ContainmentAccelerator
import thetajoin.accelerator.existence.ExistenceAccelerator
import thetajoin.accelerator.interval.IntervalAccelerator
import thetajoin.accelerator.nearest.NearestAccelerator
import thetajoin.accelerator.nestedloop.NestedLoopAccelerator
import thetajoin.accelerator.patterns.PatternsAccelerator
import thetajoin.accelerator.piecewise.PiecewiseAccelerator
import thetajoin.accelerator.similar.SimilarAccelerator
import thetajoin.accelerator.vector.VectorAccelerator
import thetajoin.accelerator.wildcard.WildcardAccelerator
import thetajoin.contract.Accelerator

/** Of a built-in accelerator: fewer examples, since there are many of them, and tests of other kinds. */
abstract class BuiltInSuite(override val accelerator: Accelerator) extends AcceleratorSuite {
  override def examples: Int = sys.props.get("thetajoin.testkit.examples").fold(4)(_.toInt)
}

class IntervalSuite extends BuiltInSuite(IntervalAccelerator) {
  override def conditions: Seq[String] = Seq(
    "a.x BETWEEN b.lo AND b.hi",
    "a.x < b.hi AND a.y > b.lo",
    "a.d >= b.f AND a.d < b.g"
  )
  override def left: String = "x BIGINT, y BIGINT, d DOUBLE"
  override def right: String = "lo BIGINT, hi BIGINT, f DOUBLE, g DOUBLE"
}

class BoxesSuite extends BuiltInSuite(BoxesAccelerator) {
  override def conditions: Seq[String] = Seq(
    "a.x BETWEEN b.lo AND b.hi AND a.y BETWEEN b.lo AND b.top",
    "a.d < b.f AND a.x > b.lo AND a.y >= b.hi"
  )
  override def left: String = "x BIGINT, y INT, d DOUBLE"
  override def right: String = "lo BIGINT, hi INT, top BIGINT, f DOUBLE"
}

class PiecewiseSuite extends BuiltInSuite(PiecewiseAccelerator) {
  override def conditions: Seq[String] =
    Seq("a.x > b.y", "a.x >= b.y", "a.x < b.y", "a.s <= b.t", "a.d < b.e")
  override def left: String = "x BIGINT, s STRING, d DECIMAL(30, 2)"
  override def right: String = "y BIGINT, t STRING, e DECIMAL(30, 2)"

  /** Beside an equality, one comparison is a matter of `interval`. */
  override def servesKeys: Boolean = false
}

class ContainmentSuite extends BuiltInSuite(ContainmentAccelerator) {
  override def conditions: Seq[String] = Seq(
    "array_contains(b.tags, a.x)",
    "arrays_overlap(a.tags, b.tags)",
    "a.s IN (b.s, b.t)"
  )
  override def left: String = "x BIGINT, tags ARRAY<BIGINT>, s STRING"
  override def right: String = "tags ARRAY<BIGINT>, s STRING, t STRING"
}

class WildcardSuite extends BuiltInSuite(WildcardAccelerator) {
  override def conditions: Seq[String] =
    Seq("(b.p IS NULL OR a.p = b.p) AND (b.q = '' OR a.q = b.q)")
  override def builtSides: Seq[String] = Seq("b")
  override def left: String = "p BIGINT, q STRING"
  override def right: String = "p BIGINT, q STRING"
}

class PatternsSuite extends BuiltInSuite(PatternsAccelerator) {
  override def conditions: Seq[String] =
    Seq("a.t LIKE concat('%', b.p, '%')", "startswith(a.t, b.p)", "a.t RLIKE b.r")
  override def left: String = "t STRING"
  override def right: String = "p STRING, r STRING"

  override def values(column: String, dataType: DataType): Gen[String] =
    if (column != "b.r") super.values(column, dataType)
    else Values.orNull(Gen.oneOf("'a'", "'a+b'", "'^b'", "'(a|b)c'", "'.'", "'[a-c]{2}$'"))
}

class VectorSuite extends BuiltInSuite(VectorAccelerator) {
  override def conditions: Seq[String] =
    Seq("vector_l2_distance(a.v, b.v) < 1", "vector_cosine_similarity(a.v, b.v) >= 0.8")
  override def left: String = "v ARRAY<FLOAT>"
  override def right: String = "v ARRAY<FLOAT>"

  override def values(column: String, dataType: DataType): Gen[String] = {
    val coordinate = Gen.oneOf("0", "1", "-1", "0.5", "0.25", "1e-20", "1e10", "'NaN'")
    Values.orNull(Gen.listOfN(
      3,
      coordinate
    ).map(_.map(c => s"float($c)").mkString("array(", ", ", ")")))
  }
}

class SimilarSuite extends BuiltInSuite(SimilarAccelerator) {
  override def conditions: Seq[String] = Seq("levenshtein(a.s, b.s) <= 1")
  override def left: String = "s STRING"
  override def right: String = "s STRING, most INT"

  override def values(column: String, dataType: DataType): Gen[String] =
    if (dataType == IntegerType) Values.orNull(Gen.choose(-1, 3).map(_.toString))
    else {
      val letters = Gen.choose(0, 5).flatMap(Gen.listOfN(_, Gen.oneOf("a", "b", "ä", "💡")))
      Values.orNull(letters.map(_.mkString("'", "", "'")))
    }
}

class SimilarByColumnSuite extends SimilarSuite {
  override def conditions: Seq[String] = Seq("levenshtein(a.s, b.s) <= b.most")
  override def builtSides: Seq[String] = Seq("b")
}

class AnyOfSuite extends BuiltInSuite(AnyOfAccelerator) {
  override def conditions: Seq[String] =
    Seq("a.x = b.x OR a.s = b.s", "a.x BETWEEN b.x AND b.y OR a.s = b.s")
  override def left: String = "x BIGINT, s STRING"
  override def right: String = "x BIGINT, y BIGINT, s STRING"
}

class ExistenceSuite extends BuiltInSuite(ExistenceAccelerator) {
  override def conditions: Seq[String] =
    Seq("a.x = b.x", "a.s = b.s AND a.x = b.x", "a.x = b.x AND a.y < b.y")
  override def left: String = "x BIGINT, y INT, s STRING"
  override def right: String = "x BIGINT, y INT, s STRING"
  override def forms: Seq[JoinForm] = JoinForm.existence
}

class NearestSuite extends BuiltInSuite(NearestAccelerator) {
  override def conditions: Seq[String] = Seq("a.x >= b.y")
  override def left: String = "x DOUBLE"
  override def right: String = "y DOUBLE"
  override def forms: Seq[JoinForm] = Seq(
    JoinForm.First(1, "abs(a.x - b.y)"),
    JoinForm.First(3, "abs(a.x - b.y)"),
    JoinForm.First(1, "b.y", isDescending = true)
  )
}

class NestedLoopSuite extends BuiltInSuite(NestedLoopAccelerator) {
  override def conditions: Seq[String] = Seq("a.x <> b.y", "(a.x + b.y) % 3 = 1")
  override def left: String = "x INT"
  override def right: String = "y INT"
  override def servesKeys: Boolean = false

  /** Sums that do not overflow. */
  override def values(column: String, dataType: DataType): Gen[String] =
    Values.orNull(Gen.choose(-9, 9).map(_.toString))
}
