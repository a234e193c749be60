package thetajoin.planner

import org.apache.spark.SparkConf

import org.scalatest.funsuite.AnyFunSuite

/** What a task may hold by what an executor has. */
class TaskShareSuite extends AnyFunSuite {
  private val giga = 1L << 30

  private def share(heap: Long, cores: Int, settings: (String, String)*): Long =
    TaskShare.share(new SparkConf(false).setAll(settings), heap, cores)

  test("tasks that run at once build indexes within what Spark grants them") {
    for (heap <- Seq(giga, 4 * giga); cores <- Seq(1, 4, 8)) {
      val granted = (heap - (300L << 20)) * 6 / 10
      val all = share(heap, cores) * 3 * cores
      assert(all <= granted && all > granted - (1 << 10), s"$heap bytes, $cores cores")
    }
  }

  test("fewer tasks run at once if each takes several cores") {
    assert(share(giga, 8, "spark.task.cpus" -> "4") == share(giga, 2))
    assert(share(giga, 2, "spark.task.cpus" -> "4") == share(giga, 1))
  }

  test("a part of the heap that is set aside is not counted") {
    assert(share(giga, 1, "spark.memory.fraction" -> "0.3") * 2 <= share(giga, 1))
  }

  test("however small a heap is, a task is given some rows") {
    assert(share(heap = 100L << 20, cores = 4) == 1L << 20)
  }
}
