package thetajoin.kit

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.BuildSide
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types._

import thetajoin.condition.{JoinShape, OrderedLong, PackedLong, Safety}
import thetajoin.contract.Offer
import thetajoin.reason.{Reason, ReasonCode}

/**
 * The equality keys of a join, in a form that tables of `keys/` understand: two keys are equal if their bytes are.
 * They are one number of 64 bits if they fit, else some columns. An accelerator that serves more than them puts them
 * [[ahead]] of its own keys.
 *
 * @param sources the conjuncts, as Spark wrote them
 * @param build expressions over the build side
 * @param probe expressions over the probe side, of the same types
 * @param canFail whether evaluating one may raise an error
 */
final case class EqualKeys(
    sources: Seq[Expression],
    build: Seq[Expression],
    probe: Seq[Expression],
    canFail: Boolean
) {
  def isEmpty: Boolean = sources.isEmpty

  /** How many columns of a key row they are. */
  def size: Int = build.size

  /**
   * The offer of an index that serves these keys too. In its key rows they stand ahead of its other keys.
   */
  def ahead(others: Offer): Offer =
    others.copy(
      served = sources ++ others.served,
      exact = sources ++ others.exact,
      buildKeys = build ++ others.buildKeys,
      probeKeys = probe ++ others.probeKeys
    )
}

object EqualKeys {

  /** All equality keys of a join, perhaps none; or why their bytes don't tell whether they are equal. */
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
      Some(ReasonCode.KeyType(s"${l.sql} and ${r.sql} in ${source.sql}"))
    else unhashable(l).map(t => ReasonCode.KeyType(s"${t.sql} in ${source.sql}"))

  /** One value in the form in which it is equal to another if the bytes are; [[refusal]] tells whether it has one. */
  def key(e: Expression): Expression =
    if (OrderedLong.orders(e.dataType)) OrderedLong(e) else e

  /** Several values in that form: one number of 64 bits if they fit. */
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
