package thetajoin.accelerator.existence

import org.apache.spark.sql.types._

import thetajoin.contract.{IndexBuilder, IndexSpec, KeyErrors, SeenKeys}
import thetajoin.kit.keys.{GroupedBytesBuilder, Groupings}

/** Equality keys. If `distinct`, one row of each key is kept. */
final case class ExistenceSpec(distinct: Boolean = false) extends IndexSpec {
  override def forOne: IndexSpec = copy(distinct = true)

  override def sieve: Option[Seq[DataType] => SeenKeys] =
    if (distinct) Some(types => new SeenMany(() => KeyMemory.ofKeys(types))) else None

  override def keyErrors: KeyErrors = KeyErrors.Raised

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = keyTypes match {
    case types if !distinct => Groupings.by(types)
    case Seq(LongType) => new DistinctLongsBuilder
    case types => new GroupedBytesBuilder(types, distinct)
  }
}
