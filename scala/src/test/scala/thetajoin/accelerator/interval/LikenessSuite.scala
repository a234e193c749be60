package thetajoin.accelerator.interval

import org.apache.spark.sql.catalyst.expressions.{Add, AttributeReference, Expression, Literal}
import org.apache.spark.sql.types.LongType

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.kit.Bound

/** Which build value a probe row's bound is taken to be like. */
class LikenessSuite extends AnyFunSuite {
  private def column(name: String): Expression = AttributeReference(name, LongType)()
  private val p = column("p")

  private def above(build: Expression, probe: Expression) =
    Bound(Literal(true), build, probe, isLower = true, strict = false, exact = true)
  private def below(build: Expression, probe: Expression) =
    above(build, probe).copy(isLower = false)

  private def likeness(bounds: Bound*): Seq[(Int, Boolean)] =
    Likeness.of(bounds.toIndexedSeq).map(like => (like.bound, like.isTurned))

  test("both ends of an interval around a point are like the first of them") {
    assert(
      likeness(
        above(column("hi"), p),
        below(column("other"), column("q")),
        below(column("lo"), p)
      ) == Seq((0, false), (1, false), (0, true))
    )
  }

  test("a column is like one of the same name") {
    assert(
      likeness(
        above(column("age"), column("Age")),
        below(column("start"), column("end")),
        above(Add(column("end"), Literal(1L)), column("start"))
      ) == Seq((0, false), (2, true), (1, true))
    )
  }

  test("neighbours from opposite ends are the ends of an interval") {
    assert(
      likeness(
        above(column("b1"), column("p1")),
        below(column("b2"), column("p2")),
        below(column("b3"), column("p3")),
        above(column("b4"), column("p4")),
        above(column("b5"), column("p5"))
      ) == Seq((1, true), (0, true), (3, true), (2, true), (4, false))
    )
    assert(likeness(above(column("b1"), column("p1")), above(column("b2"), column("p2"))) ==
      Seq((0, false), (1, false)))
  }
}
