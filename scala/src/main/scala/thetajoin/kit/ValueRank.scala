package thetajoin.kit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{BitwiseNot, Expression, UnaryExpression}
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.contract.Offer

/**
 * The rank of a value among the build side's values, as a key in an offer in the making. An index of numbers serves
 * values of any ordered type so: [[RankedSpec]] numbers them. It has no value of its own.
 */
final case class ValueRank(child: Expression) extends UnaryExpression {
  override def dataType: DataType = LongType
  override def toString: String = child.toString
  override def eval(input: InternalRow): Any = refuse()
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = refuse()
  private def refuse(): Nothing = throw new IllegalStateException(s"a rank without an index: $this")
  override protected def withNewChildInternal(newChild: Expression): ValueRank = copy(newChild)
}

object ValueRank {

  /** The classes of such an index, apart from the index of numbers. */
  val wireClasses: Seq[Class[_]] = Seq(
    classOf[RankedColumn],
    classOf[Array[RankedColumn]],
    classOf[RankedIndex],
    classOf[DistinctValues],
    classOf[Array[DistinctValues]],
    classOf[KeyTypes]
  )

  /**
   * An offer whose keys may be ranks, and negated ones, as one whose keys can be evaluated.
   *
   * @param compared for each of the offer's probe keys the place of the build key that it is compared with
   */
  def resolved(offer: Offer, compared: Seq[Int]): Offer = {
    val (build, probe) = (offer.buildKeys.map(column), offer.probeKeys.map(column))
    if (!build.exists(_._2.nonEmpty)) offer
    else {
      val ofBuild = build.map(_._2).zipWithIndex.collect { case (Some(negated), i) =>
        RankedColumn(i, i, negated)
      }
      val ofProbe = probe.map(_._2).zipWithIndex.collect { case (Some(negated), i) =>
        RankedColumn(i, compared(i), negated)
      }
      offer.copy(
        buildKeys = build.map(_._1),
        probeKeys = probe.map(_._1),
        spec = RankedSpec(offer.spec, ofBuild, ofProbe, KeyTypes(probe.map(_._1.dataType)))
      )
    }
  }

  /** The expression that is evaluated for a key, and whether its rank is negated if it is one. */
  private def column(key: Expression): (Expression, Option[Boolean]) = key match {
    case ValueRank(value) => (value, Some(false))
    case BitwiseNot(ValueRank(value)) => (value, Some(true))
    case other => (other, None)
  }
}
