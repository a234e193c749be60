package thetajoin.kit

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.BuildSide
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types._

import thetajoin.condition.{JoinShape, OrderedLong, PackedLong, Safety}
import thetajoin.reason.{Reason, ReasonCode}

/**
 * The keys of both sides that must be equal, in a form in which they are if their bytes are: one number, or some columns.
 *
 * @param canFail whether evaluating one may raise an error
 */
private[thetajoin] final case class EqualKeys(
    sources: Seq[Expression],
    build: Seq[Expression],
    probe: Seq[Expression],
    canFail: Boolean
)

private[thetajoin] object EqualKeys {

  def of(shape: JoinShape, buildSide: BuildSide): Either[Reason, EqualKeys] = {
    val keys = shape.equiKeys
    keys.flatMap(k => refusal(k.source, k.left, k.right)).headOption.toLeft {
      val (build, probe) = keys.map(_.oriented(buildSide)).unzip
      val canFail = !keys.forall(k => Safety.cannotFail(k.left) && Safety.cannotFail(k.right))
      EqualKeys(keys.map(_.source), packed(build.flatten), packed(probe.flatten), canFail)
    }
  }

  /** Why the bytes of values don't tell whether they are equal, if so. */
  def refusal(source: Expression, l: Expression, r: Expression): Option[Reason] =
    refusal(source, l.dataType, r.dataType)

  /** The same of values of these types. */
  def refusal(source: Expression, l: DataType, r: DataType): Option[Reason] =
    if (!DataTypeUtils.sameType(l, r))
      Some(ReasonCode.KeyType(s"${l.sql} beside ${r.sql} in ${source.sql}"))
    else unhashable(l).map(t => ReasonCode.KeyType(s"${t.sql} in ${source.sql}"))

  def key(e: Expression): Expression =
    if (OrderedLong.orders(e.dataType)) OrderedLong(e) else e

  def packed(keys: Seq[Expression]): Seq[Expression] =
    PackedLong.of(keys).map(Seq(_)).getOrElse(keys.map(key))

  /** The part of a type whose equal values may differ in their bytes, if there is one. */
  private def unhashable(t: DataType): Option[DataType] = t match {
    case s: StringType => if (s.collationId == StringType.collationId) None else Some(s)
    case _ if OrderedLong.orders(t) => None
    case BinaryType | _: DecimalType => None
    case s: StructType => s.fields.iterator.flatMap(f => nested(f.dataType)).nextOption()
    case a: ArrayType => nested(a.elementType)
    case other => Some(other)
  }

  /** Within a value there is no place to normalize a zero or a NaN. */
  private def nested(t: DataType): Option[DataType] = t match {
    case DoubleType | FloatType => Some(t)
    case other => unhashable(other)
  }
}
