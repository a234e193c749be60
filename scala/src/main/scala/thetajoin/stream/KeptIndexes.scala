package thetajoin.stream

import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd, SparkListenerEvent}
import org.apache.spark.sql.execution.thetabridge.Lasting
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent

/** The indexes that a streaming query keeps, from its last micro-batch to the next. */
private[stream] final class KeptIndexes {
  private var batch = ""
  private var kept = Seq.empty[(BuildRowsKey, Broadcast[Any])]

  /**
   * The indexes of these rows, if they are there. All others are released when a micro-batch is planned first. They
   * are not destroyed: a task that was cancelled may still read them. Spark removes what nothing refers to.
   */
  def found(ofBatch: String, keys: Seq[BuildRowsKey]): Seq[Option[Broadcast[Any]]] =
    synchronized {
      if (ofBatch != batch) {
        batch = ofBatch
        kept = kept.filter { case (key, _) => keys.contains(key) }
      }
      kept = kept.filter { case (_, broadcast) => Lasting.isValid(broadcast) }
      keys.map(key => kept.collectFirst { case (`key`, broadcast) => broadcast })
    }

  /** Once it is built. */
  def keep(key: BuildRowsKey, broadcast: Broadcast[Any]): Unit = synchronized {
    key.read()
    kept = kept.filterNot { case (known, _) => known == key } :+ (key -> broadcast)
  }

  def size: Int = synchronized(kept.size)

  private def release(): Unit = synchronized {
    kept = Nil
  }
}

private[stream] object KeptIndexes {
  private val ofQueries = new ConcurrentHashMap[String, KeptIndexes]
  @volatile private var heard = new WeakReference[SparkContext](null)

  /** The indexes of a running query, until it ends. */
  def of(query: String, context: SparkContext): KeptIndexes = {
    listenTo(context)
    ofQueries.computeIfAbsent(query, _ => new KeptIndexes)
  }

  private def listenTo(context: SparkContext): Unit = synchronized {
    if (heard.get ne context) {
      releaseAll()
      context.addSparkListener(Ends)
      heard = new WeakReference(context)
    }
  }

  private def releaseAll(): Unit = ofQueries.keySet.forEach(release(_))

  private def release(query: String): Unit = Option(ofQueries.remove(query)).foreach(_.release())

  private object Ends extends SparkListener {
    override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
      case end: QueryTerminatedEvent => release(end.id.toString)
      case _ =>
    }

    override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = releaseAll()
  }
}
