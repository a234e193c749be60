package thetajoin.functions.spatial

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

import org.locationtech.jts.geom.Geometry
import org.locationtech.jts.operation.distance.DistanceOp
import org.locationtech.jts.operation.relateng.RelateNG
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

import thetajoin.SharedSession

/** Joins of drawn geometries give the pairs that a loop over JTS gives. */
class GeometryJoinsSuite extends AnyFunSuite with SharedSession with Geometries {
  private val rows = 60
  private val drawn = Gen.frequency(15 -> geometry.map(Option(_)), 1 -> Gen.const(None))

  private def table(name: String, seed: Long): IndexedSeq[Option[Geometry]] = {
    val geometries =
      Gen.listOfN(rows, drawn).pureApply(Gen.Parameters.default, Seed(seed)).toIndexedSeq
    val schema = StructType(Seq(StructField("id", IntegerType), StructField("g", BinaryType)))
    val data = geometries.zipWithIndex.map { case (g, i) => Row(i, g.map(wkb).orNull) }
    spark.createDataFrame(spark.sparkContext.parallelize(data, 2), schema)
      .createOrReplaceTempView(name)
    geometries
  }

  private def pairs(
      left: IndexedSeq[Option[Geometry]],
      right: IndexedSeq[Option[Geometry]]
  )(holds: (Geometry, Geometry) => Boolean): Set[(Int, Int)] = {
    val found = for {
      (l, i) <- left.zipWithIndex
      (r, j) <- right.zipWithIndex
      (a, b) <- l.zip(r)
      if !a.isEmpty && !b.isEmpty && holds(a, b)
    } yield (i, j)
    found.toSet
  }

  private def check(on: String, expected: Set[(Int, Int)]): Unit = {
    val unmatched = (0 until rows).filterNot(expected.map(_._1).contains)
    for (side <- Seq("l", "r")) {
      val joined = spark.sql(s"SELECT /*+ BROADCAST($side) */ l.id, r.id FROM l JOIN r ON $on")
      val found = joined.collect().map(row => (row.getInt(0), row.getInt(1)))
      assert(found.toSet.diff(expected) == Set.empty, s"$on, $side built: too many")
      assert(expected.diff(found.toSet) == Set.empty, s"$on, $side built: missing")
      assert(found.length == expected.size, s"$on, $side built")
      assert(thetaJoins(joined.queryExecution.executedPlan).map(_.join.accelerator) == Seq("boxes"))
      val anti = spark.sql(s"SELECT /*+ BROADCAST($side) */ l.id FROM l LEFT ANTI JOIN r ON $on")
      assert(anti.collect().map(_.getInt(0)).sorted.toSeq == unmatched, s"$on, $side built, anti")
      assert(thetaJoins(anti.queryExecution.executedPlan).map(_.join.accelerator) == Seq("boxes"))
    }
  }

  for (seed <- 1L to 4L)
    test(s"relations and distances of drawn geometries, $seed") {
      val (left, right) = (table("l", seed), table("r", seed + 100))
      onEveryPath { _ =>
        for (relation <- Relation.all)
          check(
            s"${relation.name}(l.g, r.g)",
            pairs(left, right)(RelateNG.relate(_, _, ofJts(relation)()))
          )
        for (distance <- Seq(0.0, 0.5, 2.0)) {
          val near = pairs(left, right)(DistanceOp.distance(_, _) <= distance)
          check(s"st_dwithin(r.g, l.g, ${distance}D)", near)
        }
      }
    }
}
