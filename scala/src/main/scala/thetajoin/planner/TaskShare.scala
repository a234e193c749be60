package thetajoin.planner

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.{SparkConf, SparkContext}

import thetajoin.Settings

/** How many bytes of build rows a task is given. */
private[thetajoin] object TaskShare {

  /** As set; unless it is, no more than an executor has the memory for while all of its cores build an index. */
  def buildBytes(conf: SQLConf): Long = {
    val most = Settings.ShuffleMaxPartitionBytes.in(conf)
    if (conf.contains(Settings.ShuffleMaxPartitionBytes.key)) most
    else SparkSession.getActiveSession.fold(most)(s => math.min(most, ofMemory(s.sparkContext)))
  }

  private def ofMemory(context: SparkContext): Long = {
    val conf = context.getConf
    if (context.isLocal)
      share(conf, Runtime.getRuntime.maxMemory, context.defaultParallelism)
    else {
      // Without the setting an executor takes what cores there are, or one, as the cluster manager has it.
      val executors = math.max(context.statusTracker.getExecutorInfos.length - 1, 1)
      val cores = math.max(context.defaultParallelism / executors, 1)
      val heap = conf.getSizeAsBytes("spark.executor.memory", "1g")
      share(conf, heap, conf.getInt("spark.executor.cores", cores))
    }
  }

  /** What Spark grants each task of an executor while all of its cores are busy, as bytes of rows of which an index is built. */
  private[planner] def share(conf: SparkConf, heap: Long, cores: Int): Long = {
    val tasks = math.max(cores / conf.getInt("spark.task.cpus", 1), 1)
    val granted = (heap - ReservedBytes) * conf.getDouble("spark.memory.fraction", 0.6)
    math.max((granted / tasks / BuildFactor).toLong, LeastBytes)
  }

  /** Spark keeps this part of a heap back. */
  private val ReservedBytes = 300L << 20

  /** Rows are held beside their keys, and then beside their copy in order. */
  private val BuildFactor = 3

  /** However small a heap is. */
  private val LeastBytes = 1L << 20
}
