package thetajoin.exec

import org.apache.spark.sql.execution.thetabridge.TaskMemory

import org.scalatest.funsuite.AnyFunSuite

import thetajoin.SharedSession

class TaskMemorySuite extends AnyFunSuite with SharedSession {
  override protected def settings: Map[String, String] =
    Map("spark.unsafe.exceptionOnMemoryLeak" -> "true")

  private def inTask(held: => Seq[Long]): Seq[Long] =
    spark.sparkContext.parallelize(Seq(0), 1).mapPartitions(_ => held.iterator).collect().toSeq

  test("what is held can grow and shrink, and is given back") {
    val held = inTask {
      val memory = TaskMemory.ofRunningTask()
      Seq(0L, 3L << 20, 3L << 20, 1L << 20, 5L << 20).map { bytes =>
        memory.hold(bytes)
        memory.getUsed
      }
    }
    assert(held == Seq(0L, 3L << 20, 3L << 20, 1L << 20, 5L << 20))
  }

  test("more than there is counts as all that there is, and is lent to who asks for it") {
    val much = 1L << 50
    val held = inTask {
      val (index, another) = (TaskMemory.ofRunningTask(), TaskMemory.ofRunningTask())
      index.hold(much)
      val all = index.getUsed
      another.hold(7L << 20)
      index.hold(much)
      Seq(all, another.getUsed, index.getUsed)
    }
    val Seq(all, lent, left) = held: @unchecked
    assert(all > lent && all < much)
    assert(lent == 7L << 20 && left == all - lent)
  }

  test("nothing is asked for where nothing more is there") {
    val held = inTask {
      val (index, another) = (TaskMemory.ofRunningTask(), TaskMemory.ofRunningTask())
      index.hold(1L << 50)
      another.hold(0)
      index.hold(1L << 50)
      Seq(another.getUsed)
    }
    assert(held == Seq(0L))
  }
}
