package thetajoin.accelerator.python

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType
import org.apache.spark.{Partition, SparkContext, TaskContext}

import thetajoin.contract.{Batches, IndexBuilder, IndexSpec, KeyErrors, OrderedIndex}

private[python] final case class PythonSpec(program: PythonProgram) extends IndexSpec {
  override def takesNulls: Boolean = program.definition.takesNulls

  /** A row of unknown distance can't be a candidate of all. */
  override def keyErrors: KeyErrors =
    if (program.nearest.isDefined) KeyErrors.Raised else KeyErrors.Held

  /** A worker is called for several Arrow batches at once. */
  override def batches: Option[Batches] =
    Some(Batches(bounds = 0, rows = math.max(program.form.rows, PythonSpec.RowsOfCall)))

  override def newBuilder(keyTypes: Seq[DataType]): IndexBuilder =
    new PythonIndexBuilder(program, keyTypes)
}

private object PythonSpec {

  /** To call a worker takes some milliseconds. */
  private val RowsOfCall = 1 << 16
}

/** Sends all keys to a worker, which makes the index and pickles it. Positions are the order of arrival. */
private final class PythonIndexBuilder(program: PythonProgram, types: Seq[DataType])
    extends IndexBuilder {
  private val keys = new ArrowFrames(types, program.form)

  override def add(row: InternalRow): Unit = keys.add(row): Unit

  /** The pickled index has about as many bytes as the keys. */
  override def bytes: Long = 2 * keys.bytes

  override def finish(): OrderedIndex = {
    val rows = keys.size
    val (frames, _) = keys.result()
    keys.clear()
    val (pickled, inWorker) = if (rows == 0) (Array.emptyByteArray, 0L) else built(frames)
    OrderedIndex(PythonIndex.of(program, pickled, inWorker, rows), Array.range(0, rows))
  }

  /** In the task that builds, or by a job with one task: a driver may have no Python. */
  private def built(frames: Array[Array[Byte]]): (Array[Byte], Long) =
    Option(TaskContext.get()).fold(BuildJob.run(program, frames))(program.build(frames, _))
}

/** A job of one task that builds. */
private final class BuildJob(
    context: SparkContext,
    program: PythonProgram,
    keys: Broadcast[Array[Array[Byte]]]
) extends RDD[(Array[Byte], Long)](context, Nil) {
  override protected def getPartitions: Array[Partition] = Array(BuildJob.Only)

  override def compute(split: Partition, task: TaskContext): Iterator[(Array[Byte], Long)] =
    Iterator.single(program.build(keys.value, task))
}

private object BuildJob {
  private object Only extends Partition {
    override def index: Int = 0
  }

  def run(program: PythonProgram, keys: Array[Array[Byte]]): (Array[Byte], Long) = {
    val context =
      SparkSession.getActiveSession.map(_.sparkContext).getOrElse(SparkContext.getOrCreate())
    val sent = context.broadcast(keys)
    try new BuildJob(context, program, sent).collect().head
    finally sent.destroy()
  }
}
