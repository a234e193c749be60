package thetajoin.report

import org.apache.spark.sql.catalyst.expressions.Expression

import thetajoin.condition.{Comparison, ConditionAnalysis, Conjunct, Implied, OrderedBy}
import thetajoin.exec.ThetaJoinExec

/** How an index reads the conjuncts that it answers, where they are not comparisons of the two sides as they stand. */
private[report] object Reading {
  def of(exec: ThetaJoinExec): Seq[String] =
    ConditionAnalysis.shape(exec.left.output, exec.right.output, exec.condition).conjuncts
      .filter(c => exec.join.served.exists(_.semanticEquals(c.source)))
      .flatMap(c => text(c).map(read => s"${c.source.sql} is read as $read"))

  private def text(conjunct: Conjunct): Option[String] = conjunct match {
    case Implied(_, comparisons) => Some(comparisons.map(text).mkString(" AND "))
    case c: Comparison if !isWritten(c) => Some(text(c))
    case _ => None
  }

  private def isWritten(c: Comparison): Boolean = c.source match {
    case OrderedBy(l, _, r) =>
      def isOne(key: Expression) = Seq(l, r).exists(_.semanticEquals(key))
      isOne(c.left) && isOne(c.right)
    case _ => false
  }

  private def text(c: Comparison): String = {
    val plain = c.plain
    s"(${plain.left.sql} ${plain.operator.symbol} ${plain.right.sql})"
  }
}
