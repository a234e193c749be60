package thetajoin.accelerator.python

import java.nio.ByteBuffer
import java.nio.ByteOrder.LITTLE_ENDIAN
import java.util.Base64

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.thetabridge.PythonEnvironment
import org.apache.spark.sql.types.DataType

import com.fasterxml.jackson.databind.ObjectMapper

/**
 * What runs in a Python worker for a join. It is a constant: equal joins have equal ones.
 *
 * @param buildNames the names of the arguments that are indexed
 * @param probeNames the names of the arguments that are looked up
 * @param probeTypes the types of these
 * @param constants a frame with the other arguments, if there are some
 * @param nearest how many rows a probe row is given at most, the nearest first; None if it is given all matches
 */
private[python] final case class PythonProgram(
    definition: Definition,
    environment: PythonEnvironment,
    buildNames: Seq[String],
    probeNames: Seq[String],
    probeTypes: Seq[DataType],
    constants: Seq[Byte],
    nearest: Option[Int],
    form: ArrowForm
) {

  /** What the worker makes of all build keys: the index, and how many bytes it takes in a worker. */
  def build(keys: Array[Array[Byte]], task: TaskContext): (Array[Byte], Long) = {
    val answers = call("build", "", 0, keys.iterator, task).toArray
    (answers.head, ByteBuffer.wrap(answers.last).order(LITTLE_ENDIAN).getLong)
  }

  /** What it answers to each frame of probe keys, by the index in a file. */
  def probe(
      index: String,
      rows: Int,
      keys: Iterator[Array[Byte]],
      task: TaskContext
  ): Iterator[Array[Byte]] =
    call(nearest.fold("probe")(_ => "nearest"), index, rows, keys, task)

  private def call(
      does: String,
      index: String,
      rows: Int,
      keys: Iterator[Array[Byte]],
      task: TaskContext
  ): Iterator[Array[Byte]] = {
    val header = PythonProgram.mapper.createObjectNode()
      .put("does", does).put("index", index).put("rows", rows).put("k", nearest.getOrElse(0))
    Seq("build_names" -> buildNames, "probe_names" -> probeNames).foreach { case (field, names) =>
      val list = header.putArray(field)
      names.foreach(list.add(_))
    }
    environment.call(
      Base64.getDecoder.decode(definition.command),
      Iterator(PythonProgram.mapper.writeValueAsBytes(header), constants.toArray) ++ keys,
      task
    )
  }
}

private object PythonProgram {
  private val mapper = new ObjectMapper
}
