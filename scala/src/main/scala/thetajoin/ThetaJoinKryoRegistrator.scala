package thetajoin

import org.apache.spark.serializer.KryoRegistrator

import com.esotericsoftware.kryo.Kryo

import thetajoin.accelerator.Registry
import thetajoin.driver.unmatched.MatchedSlice
import thetajoin.functions.spatial.RelationTest
import thetajoin.kit.keys.{
  ByteTable,
  DenseLongs,
  DistinctBytes,
  GroupedBytes,
  GroupedLongs,
  Groups,
  HashedLongs,
  KeyBytes,
  KeyFilter,
  ShortTable,
  ValueNumbers
}
import thetajoin.kit.{Directory, KeyTypes}
import thetajoin.relation.ThetaRelation
import thetajoin.rowstore.{FlatColumn, PagedColumn, RowPages, RowStore, StoredColumn}

/**
 * The classes that joins broadcast, shuffle and collect, for sessions that set `spark.kryo.registrationRequired`:
 * `spark.kryo.registrator=thetajoin.ThetaJoinKryoRegistrator`. The classes of the built-in accelerators are among
 * them.
 */
final class ThetaJoinKryoRegistrator extends KryoRegistrator {

  /** A class is written as its place in the list. */
  override def registerClasses(kryo: Kryo): Unit =
    (shared ++ Registry.builtIn.flatMap(_.wireClasses)).foreach(kryo.register(_))

  /** Classes that are no accelerator's own. */
  private def shared: Seq[Class[_]] = Seq(
    classOf[ThetaRelation],
    classOf[RowStore],
    classOf[Array[StoredColumn]],
    classOf[FlatColumn],
    classOf[PagedColumn],
    classOf[RowPages],
    classOf[Array[RowPages]],
    classOf[MatchedSlice],
    classOf[KeyTypes],
    classOf[Directory],
    classOf[Array[Directory]],
    classOf[Groups.One],
    classOf[Groups.OfNumbers],
    classOf[Groups.OfBytes],
    classOf[DenseLongs],
    classOf[HashedLongs],
    classOf[ShortTable],
    classOf[ByteTable],
    classOf[KeyFilter],
    classOf[KeyBytes],
    classOf[ValueNumbers],
    classOf[Array[ValueNumbers]],
    classOf[GroupedLongs],
    classOf[DistinctBytes],
    classOf[GroupedBytes],
    classOf[Array[Array[Long]]],
    classOf[RelationTest]
  )
}
