package thetajoin.accelerator.anyof

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{BooleanType, LongType}

import org.scalatest.funsuite.AnyFunSuite

class ArmsSuite extends AnyFunSuite {
  private val x = AttributeReference("x", LongType)()
  private val flag = AttributeReference("flag", BooleanType)()
  private def is(i: Int) = EqualTo(x, Literal(i.toLong))
  private def isNot(e: Expression) = Not(Coalesce(Seq(e, Literal.FalseLiteral)))

  private def of(e: Expression, most: Int = 16) = Arms.of(e, most)

  test("an OR, and what is one") {
    assert(of(is(1)).first == Seq(is(1)))
    assert(of(Or(Or(is(1), is(2)), is(3))).first == Seq(is(1), is(2), is(3)))
    assert(of(If(flag, is(1), is(2))).first == Seq(And(flag, is(1)), And(isNot(flag), is(2))))
    assert(of(Coalesce(Seq(is(1), is(2), is(3)))).first ==
      Seq(is(1), And(IsNull(is(1)), is(2)), And(And(IsNull(is(1)), IsNull(is(2))), is(3))))
    val branches = Seq(is(1) -> Or(is(2), is(3)), flag -> Literal.FalseLiteral, is(4) -> is(5))
    val before = And(isNot(is(1)), isNot(flag))
    assert(of(CaseWhen(branches, Some(flag))) == Arms(
      4,
      Seq(
        And(is(1), is(2)),
        And(is(1), is(3)),
        And(And(before, is(4)), is(5)),
        And(And(before, isNot(is(4))), flag)
      )
    ))
  }

  test("many arms are counted, and few of them made") {
    val branches = Seq.tabulate(5000)(i => is(i) -> is(i + 1))
    val arms = of(CaseWhen(branches, Some(flag)), most = 3)
    assert(arms.count == 5001)
    assert(arms.first.size == 3)
    assert(arms.first.map(_.collect { case e => e }.size).sum < 50)
  }
}
