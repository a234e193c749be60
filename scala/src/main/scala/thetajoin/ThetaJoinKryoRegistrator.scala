package thetajoin

import org.apache.spark.serializer.KryoRegistrator

import com.esotericsoftware.kryo.Kryo

import thetajoin.accelerator.existence._
import thetajoin.accelerator.interval._
import thetajoin.accelerator.keys._
import thetajoin.accelerator.nestedloop.AllRows
import thetajoin.accelerator.piecewise._
import thetajoin.accelerator.{BoundPair, Directory, KeyTypes}
import thetajoin.driver.{MatchedSlice, ReplicatedRelation}
import thetajoin.rowstore._

/**
 * The classes of what joins broadcast, shuffle and collect, for sessions that set `spark.kryo.registrationRequired`:
 * `spark.kryo.registrator=thetajoin.ThetaJoinKryoRegistrator`. It has those of the built-in accelerators.
 */
final class ThetaJoinKryoRegistrator extends KryoRegistrator {

  /** A class is written as its place in this list. */
  override def registerClasses(kryo: Kryo): Unit = Seq(
    classOf[ThetaRelation],
    classOf[RowStore],
    classOf[Array[StoredColumn]],
    classOf[FlatColumn],
    classOf[PagedColumn],
    classOf[RowPages],
    classOf[Array[RowPages]],
    classOf[ReplicatedRelation],
    classOf[MatchedSlice],
    classOf[KeyTypes],
    classOf[Directory],
    classOf[Array[Directory]],
    classOf[BoundPair],
    classOf[Groups.One],
    classOf[Groups.OfNumbers],
    classOf[Groups.OfBytes],
    classOf[DenseLongs],
    classOf[HashedLongs],
    classOf[ShortTable],
    classOf[ByteTable],
    classOf[KeyFilter],
    classOf[KeyBytes],
    classOf[GroupedLongs],
    classOf[GroupedBytes],
    classOf[TestedRows],
    classOf[TestedLongs],
    classOf[TestedBytes],
    classOf[HighestTest],
    classOf[UnequalTest],
    classOf[StaircaseTest],
    classOf[NullAwareSpec],
    classOf[NullAwareIndex],
    classOf[NullAwareNumbers],
    classOf[PiecewiseSpec],
    classOf[SortedLongs],
    classOf[SortedValues],
    classOf[BetweenSpec],
    classOf[Between],
    classOf[BetweenOfUnique],
    classOf[BothAtLeastSpec],
    classOf[BothAtLeast],
    classOf[BothAtLeastOfUnique],
    classOf[Segments],
    classOf[MaxTree],
    classOf[Array[Array[Long]]],
    classOf[AllRows]
  ).foreach(kryo.register(_))
}
