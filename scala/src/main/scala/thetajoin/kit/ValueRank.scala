package thetajoin.kit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{BitwiseNot, Expression, UnaryExpression}
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.condition.NeverFails
import thetajoin.contract.Offer

/**
 * The rank of a value among the build side's values, as a key in an offer in the making. An index of numbers serves
 * values of any ordered type so: [[RankedSpec]] numbers them. It has no value of its own.
 *
 * @param isAbove see [[RankedColumn.isAbove]]
 */
final case class ValueRank(child: Expression, isAbove: Option[Boolean] = None)
    extends UnaryExpression
    with NeverFails {
  override def dataType: DataType = LongType
  override def toString: String = child.toString
  override def eval(input: InternalRow): Any = refuse()
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = refuse()
  private def refuse(): Nothing = throw new IllegalStateException(s"a rank without an index: $this")
  override protected def withNewChildInternal(newChild: Expression): ValueRank =
    copy(child = newChild)
}

object ValueRank {

  /** The classes of such an index, apart from the index of numbers. */
  val wireClasses: Seq[Class[_]] = Seq(
    classOf[RankedColumn],
    classOf[Array[RankedColumn]],
    classOf[RankedIndex],
    classOf[KeyTypes]
  ) ++ OrderedNumbers.wireClasses

  /**
   * An offer whose keys may be ranks, and negated ones, as one whose keys can be evaluated.
   *
   * @param compared for each of the offer's probe keys the place of the build key that it is compared with
   */
  def resolved(offer: Offer, compared: Seq[Int]): Offer = {
    val (build, probe) = (columns(offer.buildKeys), columns(offer.probeKeys))
    if (build.isEmpty) offer
    else
      offer.copy(
        buildKeys = offer.buildKeys.map(value),
        probeKeys = offer.probeKeys.map(value),
        spec = RankedSpec(
          offer.spec,
          build,
          probe.map(c => c.copy(of = compared(c.place))),
          KeyTypes(offer.probeKeys.map(value(_).dataType))
        )
      )
  }

  private def columns(keys: Seq[Expression]): Seq[RankedColumn] = keys.zipWithIndex.collect {
    case (ValueRank(_, isAbove), i) => RankedColumn(i, i, isNegated = false, isAbove)
    case (BitwiseNot(ValueRank(_, isAbove)), i) => RankedColumn(i, i, isNegated = true, isAbove)
  }

  /** The expression that is evaluated for a key. */
  private def value(key: Expression): Expression = key match {
    case ValueRank(value, _) => value
    case BitwiseNot(ValueRank(value, _)) => value
    case other => other
  }
}
