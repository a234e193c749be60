package thetajoin.exec

import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BoundReference
import org.apache.spark.sql.execution.thetabridge.DriverMemory
import org.apache.spark.sql.types.{DataType, LongType}
import org.apache.spark.storage.StorageLevel

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.SharedSession
import thetajoin.accelerator.existence.ExistenceSpec
import thetajoin.contract.{IndexBuilder, IndexSpec, OrderedIndex}
import thetajoin.relation.{
  BroadcastMemoryException,
  ReceivedRelation,
  ThetaBroadcastMode,
  ThetaRelation
}

/** Indexes of as many builds fail as have not been counted. */
private final case class EndlessSpec(fails: AtomicInteger) extends IndexSpec {
  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder = new IndexBuilder {
    private val isEndless = fails.getAndDecrement() > 0
    private val index = ExistenceSpec().newBuilder(keyTypes)
    private var rows = 0
    override def add(keys: InternalRow): Unit = {
      index.add(keys)
      rows += 1
      if (rows > 3000 && isEndless) throw new OutOfMemoryError("Java heap space")
    }
    override def bytes: Long = index.bytes
    override def finish(): OrderedIndex = index.finish()
  }
}

class BroadcastMemorySuite extends AnyFunSuite with SharedSession {

  private def join(): ThetaJoinExec = {
    val query = spark.sql(
      "SELECT /*+ BROADCAST(b) */ a.id, b.id, pad FROM range(10) a " +
        "JOIN (SELECT id, repeat('x', 1000) AS pad FROM range(0, 5000, 1, 1)) b ON a.id < b.id"
    )
    thetaJoins(executed(query)).head
  }

  private def endless(join: ThetaJoinExec, fails: Int): ThetaBroadcastMode = {
    val key = BoundReference(0, LongType, nullable = false)
    val spec = EndlessSpec(new AtomicInteger(fails))
    ThetaBroadcastMode("endless", spec, Seq(key), None, Nil, keepUnmatchable = false, Nil)(
      join.mode.condition
    )
  }

  /** As Spark gives them to the mode. */
  private def rowsOf(join: ThetaJoinExec): Iterator[InternalRow] = {
    val Seq(rows) = collect(join) { case rows: RepeatableRowsExec => rows }: @unchecked
    rows.executeCollectIterator()._2
  }

  test("a full heap is reported with the join, what was read and what to do") {
    val join = this.join()
    val mode = endless(join, fails = 2)
    val failure = intercept[BroadcastMemoryException](mode.transform(rowsOf(join), Some(5000L)))
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

  private def withKeptBlocks(body: => Unit): Unit = {
    val kept = spark.sparkContext.parallelize(0 until 4, 2).map(i => Array.fill(1 << 20)(i.toLong))
      .persist(StorageLevel.MEMORY_AND_DISK_SER)
    assert(kept.count() == 4)
    body
    assert(kept.map(_.sum).collect().toSeq == Seq.tabulate(4)(_.toLong << 20))
    kept.unpersist(blocking = true)
  }

  test("rows are read once more if the heap was full, and something could be let go of") {
    onEveryPath { _ =>
      val join = this.join()
      withKeptBlocks {
        val built = endless(join, fails = 1).transform(rowsOf(join), Some(5000L))
        assert(built.asInstanceOf[ThetaRelation].indexed == 5000)
      }
      withKeptBlocks {
        intercept[BroadcastMemoryException] {
          endless(join, fails = 2).transform(rowsOf(join), Some(5000L))
        }: Unit
      }
      DriverMemory.makeRoom(Long.MaxValue): Unit
      intercept[BroadcastMemoryException] {
        endless(join, fails = 1).transform(rowsOf(join), Some(5000L))
      }: Unit
    }
  }

  /** Fails to be read in these ways, one after the other. */
  private def failing(relation: ThetaRelation, failures: Throwable*): Broadcast[ThetaRelation] =
    new Broadcast[ThetaRelation](0L) {
      private val left = failures.iterator
      override protected def getValue(): ThetaRelation = left.nextOption().fold(relation)(throw _)
      override protected def doUnpersist(blocking: Boolean): Unit = ()
      override protected def doDestroy(blocking: Boolean): Unit = ()
    }

  test("a broadcast is read once more if the heap was full") {
    val join = this.join()
    val relation =
      endless(join, fails = 0).transform(rowsOf(join), None).asInstanceOf[ThetaRelation]
    val full = new OutOfMemoryError("Java heap space")
    val hidden = new IOException(new IllegalStateException("unread block data"))
    for (failure <- Seq(full, hidden))
      assert(ReceivedRelation.of(failing(relation, failure)) eq relation)
    assert(intercept[Throwable](ReceivedRelation.of(failing(relation, full, hidden))) eq hidden)
    val lost = new IOException("a piece is lost")
    assert(intercept[IOException](ReceivedRelation.of(failing(relation, lost))) eq lost)
  }

  /** Of the whole process: Spark keeps the manager of its memory to itself. */
  private def storageUsed: Long = {
    val (most, left) = spark.sparkContext.getExecutorMemoryStatus.values.head
    most - left
  }

  test("what a broadcast needs is asked of blocks that nobody uses") {
    withKeptBlocks {
      val used = storageUsed
      assert(used > (16L << 20))
      assert(DriverMemory.makeRoom(1L << 20) == 0 && storageUsed == used)
      val freed = DriverMemory.makeRoom(Long.MaxValue)
      assert(freed > used / 2 && storageUsed < used / 2)
    }
  }
}
