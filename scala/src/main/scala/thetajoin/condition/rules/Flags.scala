package thetajoin.condition.rules

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{BooleanType, NumericType}

import thetajoin.condition.IsNotTrue

object Flags extends ConditionRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "CASE WHEN a.x = b.x THEN 1 ELSE 0 END + CASE WHEN a.y = b.y THEN 1 ELSE 0 END >= 1",
      "(a.x = b.x OR a.y = b.y)"
    )
  )
  override val proof: String =
    "A comparison of numbers that conditions choose is tried with each choice; if it stays true " +
      "when one more flag is set, only the flags that must be set matter."

  override def rewritten(condition: Expression): Option[Expression] = condition match {
    case comparison: BinaryComparison if comparison.references.nonEmpty =>
      val flags = chosen(comparison)
      val rewritten = flags match {
        case Nil => None
        case Seq(one) => ofCase(comparison, one)
        case several => ofFlags(comparison, several)
      }
      rewritten.map(flags.flatMap(_.ofNull).map(IsNotNull(_)).foldLeft(_)(And(_, _)))
    case CaseWhen(branches, _) if condition.dataType == BooleanType =>
      literals(branches.map(_._2)).flatMap(_ => rewritten(EqualTo(condition, Literal.TrueLiteral)))
    case _ => None
  }

  /**
   * A value that conditions choose among constants.
   *
   * @param ofNull the condition whose null makes the value null
   */
  private final case class Chosen(
      e: Expression,
      branches: Seq[(Expression, Literal)],
      otherwise: Option[Literal],
      ofNull: Option[Expression] = None
  )

  /** All that a comparison reads; none if it reads anything else. */
  private def chosen(comparison: Expression): Seq[Chosen] = {
    def of(e: Expression): Option[Seq[Chosen]] = e match {
      case CaseWhen(branches, otherwise) =>
        literals(branches.map(_._2) ++ otherwise).map { values =>
          val chosen = branches.map(_._1).zip(values)
          Seq(Chosen(e, chosen, if (otherwise.isEmpty) None else Some(values.last)))
        }
      case If(when, yes, no) =>
        literals(Seq(yes, no)).map(values =>
          Seq(Chosen(e, Seq(when -> values.head), Some(values.last)))
        )
      case literal if literal.foldable => Some(Nil)
      case Add(l, r, _) => for (x <- of(l); y <- of(r)) yield x ++ y
      case c @ Cast(when, _: NumericType, _, _) if when.dataType == BooleanType =>
        def number(flag: Boolean) =
          Literal(c.withNewChildren(Seq(Literal(flag))).eval(), c.dataType)
        Some(Seq(Chosen(c, Seq(when -> number(true)), Some(number(false)), Some(when))))
      case c: Cast => of(c.child)
      case _ => None
    }
    val sides = comparison.children.map(of)
    if (sides.forall(_.nonEmpty)) sides.flatten.flatten else Nil
  }

  private def literals(values: Seq[Expression]): Option[Seq[Literal]] = {
    val found = values.collect { case l: Literal => l }
    if (found.size == values.size) Some(found) else None
  }

  private def ofCase(comparison: Expression, of: Chosen): Option[Expression] = {
    def isGood(value: Literal) = holds(comparison, Map(of.e -> value))
    val (found, others) =
      of.branches.foldLeft((Seq.empty[Expression], Seq.empty[Expression])) {
        case ((found, before), (when, value)) =>
          if (isGood(value)) (found :+ all(before :+ when), before)
          else (found, before :+ IsNotTrue(when))
      }
    val last = if (of.otherwise.exists(isGood)) Some(all(others)) else None
    if (others.size * found.size > MostNegated) None else (found ++ last).reduceOption(Or(_, _))
  }

  /** Of several flags, which have one of two numbers each. */
  private def ofFlags(comparison: Expression, flags: Seq[Chosen]): Option[Expression] = {
    val areFlags =
      flags.size <= MostFlags && flags.forall(f => f.branches.size == 1 && f.otherwise.nonEmpty)
    if (!areFlags) None
    else {
      val sets = flags.indices.toSet.subsets().toSeq
      def isTrueOf(set: Set[Int]) = holds(
        comparison,
        flags.zipWithIndex.map { case (flag, i) =>
          flag.e -> (if (set(i)) flag.branches.head._2 else flag.otherwise.get)
        }.toMap
      )
      val good = sets.filter(isTrueOf).toSet
      val isMonotone = good.forall(set => flags.indices.forall(i => good(set + i)))
      val least = good.toSeq.filter(set => set.forall(i => !good(set - i)))
      if (!isMonotone || least.isEmpty || least.contains(Set.empty[Int])) None
      else
        least.map(set => all(set.toSeq.sorted.map(flags(_).branches.head._1)))
          .reduceOption(Or(_, _))
    }
  }

  private def holds(comparison: Expression, values: Map[Expression, Literal]): Boolean =
    Try(comparison.transform {
      case e if values.contains(e) => values(e)
    }.eval()).toOption.contains(true)

  private def all(conditions: Seq[Expression]): Expression =
    conditions.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral)

  /** Conditions that stand ahead of others and rule these out are repeated with each. */
  private val MostNegated = 64

  /** Their subsets are tried. */
  private val MostFlags = 6
}
