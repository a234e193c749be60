package thetajoin.condition.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

object SequenceFound extends ConditionRule {
  override val readings: Seq[Reading] = Seq(
    Reading(
      "array_contains(sequence(b.x1, b.x2), a.x)",
      "a.x BETWEEN least(b.x1, b.x2) AND greatest(b.x1, b.x2) AND b.x1 IS NOT NULL AND b.x2 IS NOT NULL"
    )
  )
  override val proof: String =
    "A sequence of whole numbers or dates without a step has all values between its ends, in either direction."

  override def rewritten(condition: Expression): Option[Expression] = condition match {
    case ArrayContains(Between(ends), value) if ends.forall(_.dataType == value.dataType) =>
      val between =
        And(GreaterThanOrEqual(value, Least(ends)), LessThanOrEqual(value, Greatest(ends)))
      Some(ends.filter(_.nullable).map(IsNotNull(_)).foldLeft[Expression](between)(And(_, _)))
    case _ => None
  }

  /** The ends of a sequence, which may have been cast to wider numbers. */
  private object Between {
    def unapply(e: Expression): Option[Seq[Expression]] = (e, e.dataType) match {
      case (s: Sequence, ArrayType(element, _))
          if s.stepOpt.isEmpty && (element == DateType || isWhole(element)) =>
        Some(Seq(s.start, s.stop))
      case (c: Cast, ArrayType(to, _)) if isWhole(to) =>
        unapply(c.child).filter(_.forall(isAsWide(to, _))).map(_.map(Cast(_, to)))
      case _ => None
    }

    private def isAsWide(to: DataType, end: Expression): Boolean =
      isWhole(end.dataType) && end.dataType.defaultSize <= to.defaultSize

    private def isWhole(t: DataType): Boolean = t match {
      case ByteType | ShortType | IntegerType | LongType => true
      case _ => false
    }
  }
}
