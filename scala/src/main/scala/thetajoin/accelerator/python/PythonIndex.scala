package thetajoin.accelerator.python

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.lang.ref.Cleaner
import java.nio.ByteBuffer
import java.nio.ByteOrder.LITTLE_ENDIAN
import java.nio.file.{Files, Path, Paths}

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.execution.thetabridge.PythonEnvironment

import thetajoin.contract.{BatchProber, JoinIndex, ListProber, Prober, SingleRunProber}

/**
 * @param written the [[PythonProgram]] in bytes: it has classes that other serializers need not know
 * @param pickled the index as Python wrote it
 * @param inWorker how many bytes it takes in a worker, if it says so
 */
private[python] final class PythonIndex(
    written: Array[Byte],
    val pickled: Array[Byte],
    inWorker: Long,
    val rows: Int
) extends JoinIndex {
  override def bytes: Long = written.length.toLong + pickled.length + inWorker

  @transient lazy val program: PythonProgram =
    new ObjectInputStream(new ByteArrayInputStream(written)).readObject()
      .asInstanceOf[PythonProgram]

  /** A file with the index, from which each worker of the machine loads it once. It goes with this object. */
  @transient lazy val file: String = {
    val path =
      Files.createTempFile(Paths.get(PythonEnvironment.localDirectory()), "index", ".pickle")
    Files.write(path, pickled)
    path.toFile.deleteOnExit()
    PythonIndex.cleaner.register(this, new PythonIndex.Deletion(path))
    path.toString
  }

  override def newProber(): Prober = new PythonProber(this)
}

private[python] object PythonIndex {
  private val cleaner = Cleaner.create()

  private final class Deletion(path: Path) extends Runnable {
    override def run(): Unit = Files.deleteIfExists(path): Unit
  }

  def of(
      program: PythonProgram,
      pickled: Array[Byte],
      inWorker: Long,
      rows: Int
  ): PythonIndex = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(program)
    out.close()
    new PythonIndex(bytes.toByteArray, pickled, inWorker, rows)
  }
}

/** Collects the keys of a batch, and has a worker look them up when the first row is asked for its candidates. */
private final class PythonProber(index: PythonIndex)
    extends Prober
    with BatchProber
    with ListProber
    with SingleRunProber {
  private lazy val keys = new ArrowFrames(index.program.probeTypes, index.program.form)
  private var isProbing = false
  private var starts = Array.emptyIntArray
  private var answers: Iterator[Array[Byte]] = Iterator.empty

  /** The frame that is read: the rows from `first` on, and the end of each row's candidates. */
  private var frame, first = 0
  private var ends, list = Array.emptyIntArray

  override def positions: Array[Int] = list

  override def group(key: Long): Int = group(new GenericInternalRow(Array[Any](key)))

  override def group(row: InternalRow): Int =
    if (index.rows == 0) -1
    else {
      if (isProbing) clear()
      keys.add(row)
    }

  override def probe(row: InternalRow): Unit =
    if (index.rows == 0) run(0, 0)
    else {
      clear()
      probe(keys.add(row), 0L, 0L)
    }

  private def clear(): Unit = {
    keys.clear()
    isProbing = false
  }

  /** Rows are asked for from the last to the first, and so are frames. */
  override def probe(slot: Int, unused: Long, alsoUnused: Long): Unit = {
    if (!isProbing) send()
    while (slot < first) read()
    val row = slot - first
    run(if (row == 0) 0 else ends(row - 1), ends(row))
  }

  private def send(): Unit = {
    val (frames, firstRows) = keys.result()
    isProbing = true
    starts = firstRows
    frame = frames.length
    first = keys.size
    answers =
      index.program.probe(index.file, index.rows, frames.reverseIterator, TaskContext.get())
  }

  /** After the number of rows: where each row's candidates end, then the candidates. */
  private def read(): Unit = {
    val answer = ByteBuffer.wrap(answers.next()).order(LITTLE_ENDIAN).asIntBuffer
    ends = new Array[Int](answer.get())
    answer.get(ends)
    list = new Array[Int](answer.remaining)
    answer.get(list)
    frame -= 1
    first = starts(frame)
    // The worker is free for others once it has said that this was all.
    if (frame == 0) answers.hasNext: Unit
  }
}
