package thetajoin.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._

import thetajoin.Yardsticks

/**
 * How large a side may be whose size Spark guesses. Spark counts an array or a map as one element and a text as 20
 * bytes, unless statistics of the column tell its length: a projection then gets that share of the bytes below it.
 * Such columns may just as well be nearly all of a file, and an array that is computed may have many elements.
 */
private[planner] object PlausibleSize {

  def of(side: LogicalPlan): BigInt = {
    val stats = side.stats
    val isKnown = stats.isRuntime || !side.output.exists { a =>
      mayBeLong(a.dataType) && stats.attributeStats.get(a).forall(_.avgLen.isEmpty)
    }
    if (isKnown) stats.sizeInBytes else stats.sizeInBytes.max(read(side))
  }

  private def mayBeLong(t: DataType): Boolean = t match {
    case _: ArrayType | _: MapType | _: StringType | BinaryType => true
    case s: StructType => s.fields.exists(field => mayBeLong(field.dataType))
    case _ => false
  }

  /** All bytes that are read below projections and filters, and the bytes of computed columns. */
  private def read(plan: LogicalPlan): BigInt = plan match {
    case Project(columns, child) =>
      val made = columns.collect { case Alias(e, _) => bytes(e) }.sum
      read(child) + (if (made > 0) rows(child) * made else 0)
    case Filter(_, child) => read(child)
    case _ => plan.stats.sizeInBytes
  }

  private def rows(plan: LogicalPlan): BigInt =
    plan.stats.rowCount.getOrElse(
      plan.stats.sizeInBytes / EstimationUtils.getSizePerRow(plan.output)
    )

  /** Of a computed array or map; 0 for other values. */
  private def bytes(e: Expression): Int = (e, e.dataType) match {
    case (_: Attribute, _) => 0
    case (CreateMap(entries, _), MapType(k, v, _)) =>
      entries.size / 2 * (k.defaultSize + v.defaultSize)
    case (_, t: ArrayType) =>
      elements(e).getOrElse(Yardsticks.ManyElements()) * t.elementType.defaultSize
    case (_, t: MapType) =>
      Yardsticks.ManyElements() * (t.keyType.defaultSize + t.valueType.defaultSize)
    case _ => 0
  }

  /** How many an array has, if its text says so. */
  private def elements(array: Expression): Option[Int] = array match {
    case Literal(values: ArrayData, _) => Some(values.numElements())
    case CreateArray(values, _) => Some(values.size)
    case ArrayTransform(values, _) => elements(values)
    case _ => None
  }
}
