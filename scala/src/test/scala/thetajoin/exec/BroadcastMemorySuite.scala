package thetajoin.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BoundReference
import org.apache.spark.sql.types.{DataType, LongType}

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.SharedSession
import thetajoin.contract.{IndexBuilder, IndexSpec, OrderedIndex}
import thetajoin.relation.{BroadcastMemoryException, ThetaBroadcastMode}

/** Keeps what it is given until the heap is full. */
private final case class EndlessSpec() extends IndexSpec {
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = new IndexBuilder {
    private var rows = 0
    override def add(keys: InternalRow): Unit = {
      rows += 1
      if (rows > 3000) throw new OutOfMemoryError("Java heap space")
    }
    override def finish(): OrderedIndex = throw new IllegalStateException
  }
}

class BroadcastMemorySuite extends AnyFunSuite with SharedSession {

  test("a full heap is reported with the join, what was read and what to do") {
    val query = spark.sql(
      "SELECT /*+ BROADCAST(b) */ * FROM range(10) a JOIN range(0, 5000, 1, 1) b ON a.id < b.id"
    )
    val Seq(join) = thetaJoins(query.queryExecution.sparkPlan): @unchecked
    val key = BoundReference(0, LongType, nullable = false)
    val mode =
      ThetaBroadcastMode(
        "endless",
        EndlessSpec(),
        Seq(key),
        None,
        Nil,
        keepUnmatchable = false,
        Nil
      )(join.mode.condition)
    val rows = spark.range(0, 5000, 1, 1).queryExecution.toRdd.map(_.copy()).collect()
    val failure = intercept[BroadcastMemoryException](mode.transform(rows))
    val heap = s"${Runtime.getRuntime.maxMemory >> 20} MB"
    val parts = Seq(
      "ON (a.id < b.id)",
      "3001 rows",
      heap,
      "spark.driver.memory",
      "BROADCAST",
      "NO_THETA_JOIN"
    )
    for (part <- parts) assert(failure.getMessage.contains(part))
    assert(failure.getCause.isInstanceOf[OutOfMemoryError])
  }
}
