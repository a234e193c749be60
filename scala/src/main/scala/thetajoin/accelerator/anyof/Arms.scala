package thetajoin.accelerator.anyof

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{
  And,
  CaseWhen,
  Coalesce,
  Expression,
  If,
  IsNull,
  Literal,
  Or
}
import org.apache.spark.sql.types.BooleanType

import thetajoin.condition.{ConditionAnalysis, IsNotTrue}

/**
 * The arms of an OR, or of an expression that is read as one. An arm of a CASE holds only if no earlier branch does.
 * All arms together are as large as the square of their number, so they are counted first.
 *
 * @param count how many there are
 * @param first the first of them, each with the conditions that have to hold as well
 */
private[anyof] final case class Arms(count: Int, first: Seq[Expression])

private[anyof] object Arms {

  /** @param most how many are given at most */
  def of(e: Expression, most: Int): Arms = {
    val collected = new Collected(most)
    collected.add(e, Nil)
    Arms(collected.count, collected.first.toSeq)
  }

  private final class Collected(most: Int) {
    var count = 0
    val first: mutable.ArrayBuffer[Expression] = mutable.ArrayBuffer.empty[Expression]

    /** @param when the conditions that have to hold as well, the last first */
    def add(e: Expression, when: List[Expression]): Unit = e match {
      case Or(l, r) =>
        add(l, when)
        add(r, when)
      case CaseWhen(branches, otherwise) if e.dataType == BooleanType =>
        addCase(branches, otherwise, when)
      case If(condition, yes, no) if e.dataType == BooleanType =>
        addCase(Seq(condition -> yes), Some(no), when)
      case Coalesce(children) if e.dataType == BooleanType =>
        children.foldLeft(when) { (before, child) =>
          add(child, before)
          IsNull(child) :: before
        }: Unit
      case _ =>
        if (when.isEmpty || !isNever(e)) {
          count += 1
          if (count <= most) first += (e :: when).reverse.reduce(And(_, _))
        }
    }

    private def addCase(
        branches: Seq[(Expression, Expression)],
        otherwise: Option[Expression],
        when: List[Expression]
    ): Unit = {
      val last = branches.foldLeft(when) { case (before, (condition, value)) =>
        if (!isNever(condition)) add(value, condition :: before)
        IsNotTrue(condition) :: before
      }
      otherwise.foreach(add(_, last))
    }
  }

  private def isNever(arm: Expression): Boolean =
    ConditionAnalysis.conjuncts(arm).exists {
      case Literal(value, BooleanType) => value != true
      case _ => false
    }
}
