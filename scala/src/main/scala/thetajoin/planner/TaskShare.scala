package thetajoin.planner

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.thetabridge.Executors
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.{SparkConf, SparkEnv}

import thetajoin.{Settings, Yardsticks}

/** How many bytes of build rows a task is given. */
private[thetajoin] object TaskShare {

  /** As set; unless it is, no more than an executor has the memory for while all of its cores build an index. */
  def buildBytes(conf: SQLConf): Long = {
    val most = Settings.ShuffleMaxPartitionBytes.in(conf)
    val context =
      if (conf.contains(Settings.ShuffleMaxPartitionBytes.key)) None
      else SparkSession.getActiveSession.map(_.sparkContext)
    context.filter(Executors.cores(_) > 0).fold(most) { c =>
      math.min(most, share(SparkEnv.get.conf, Executors.heap(c), Executors.cores(c)))
    }
  }

  /**
   * The memory that Spark grants each task of an executor while all of its cores are busy, as bytes of rows for which
   * an index can be built.
   */
  private[planner] def share(conf: SparkConf, heap: Long, cores: Int): Long = {
    val tasks = math.max(cores / conf.getInt("spark.task.cpus", 1), 1)
    val granted = (heap - Yardsticks.ReservedBytes()) * conf.getDouble("spark.memory.fraction", 0.6)
    math.max((granted / tasks / Yardsticks.BuildFactor()).toLong, Yardsticks.LeastTaskBytes())
  }
}
