package thetajoin.accelerator.python

import java.io.ByteArrayOutputStream
import java.nio.channels.Channels

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeRow}
import org.apache.spark.sql.execution.arrow.ArrowWriter
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructField, StructType}

import org.apache.arrow.vector.ipc.ArrowStreamWriter

import thetajoin.reason.{Reason, ReasonCode}

/**
 * How keys are handed over.
 *
 * @param timeZone of timestamps
 * @param rows the most rows of a batch
 */
private[python] final case class ArrowForm(timeZone: String, rows: Int)

private[python] object ArrowForm {

  /** Spark's own setting counts; 0 or less is no limit there. */
  def of(conf: SQLConf): ArrowForm = {
    val rows = conf.arrowMaxRecordsPerBatch
    ArrowForm(conf.sessionLocalTimeZone, if (rows > 0) rows else MostRows)
  }

  private val MostRows = 10000
}

/** Key rows as Arrow streams of one batch each. Columns have the numbers of the keys as names. */
private[python] final class ArrowFrames(types: Seq[DataType], form: ArrowForm) {
  private val rows = mutable.ArrayBuffer.empty[InternalRow]
  private val frames = mutable.ArrayBuffer.empty[Array[Byte]]
  private val starts = mutable.ArrayBuffer.empty[Int]
  private var total = 0
  private var rowBytes, frameBytes = 0L

  def size: Int = total

  /** The rows that wait are written once more. */
  def bytes: Long = 3 * rowBytes + frameBytes

  /** The number of the row. */
  def add(row: InternalRow): Int = {
    rows += row.copy()
    rowBytes += (row match {
      case unsafe: UnsafeRow => unsafe.getSizeInBytes.toLong
      case _ => ArrowFrames.OtherRowBytes
    })
    total += 1
    if (rows.size == form.rows || rowBytes >= ArrowFrames.MostBytes) flush()
    total - 1
  }

  private def flush(): Unit = if (rows.nonEmpty) {
    starts += total - rows.size
    frames += ArrowFrames.frame(types, rows, form.timeZone)
    frameBytes += frames.last.length
    rows.clear()
    rowBytes = 0
  }

  def clear(): Unit = {
    Seq(rows, frames, starts).foreach(_.clear())
    total = 0
    rowBytes = 0
    frameBytes = 0
  }

  /** The frames, and the number of the first row of each. */
  def result(): (Array[Array[Byte]], Array[Int]) = {
    flush()
    (frames.toArray, starts.toArray)
  }
}

private[python] object ArrowFrames {
  private val MostBytes = 32L << 20
  private val OtherRowBytes = 32L

  /** The values as a frame of one row; empty if there are none. */
  def ofConstants(values: Seq[Expression]): Seq[Byte] =
    if (values.isEmpty) Nil
    else {
      val row = InternalRow.fromSeq(values.map(_.eval()))
      frame(values.map(_.dataType), Seq(row), SQLConf.get.sessionLocalTimeZone).toIndexedSeq
    }

  /** The values that Arrow has no type for, if any. */
  def refusal(values: Seq[Expression]): Option[Reason] = values.collectFirst {
    case e if !isArrows(e.dataType) => ReasonCode.KeyType(s"${e.dataType.sql} in ${e.sql}")
  }

  private def isArrows(t: DataType): Boolean =
    try {
      writer(Seq(t), "UTC").root.close()
      true
    } catch { case NonFatal(_) => false }

  private def frame(types: Seq[DataType], rows: Iterable[InternalRow], timeZone: String) = {
    val arrow = writer(types, timeZone)
    try {
      rows.foreach(arrow.write)
      arrow.finish()
      val bytes = new ByteArrayOutputStream
      val stream = new ArrowStreamWriter(arrow.root, null, Channels.newChannel(bytes))
      stream.start()
      stream.writeBatch()
      stream.end()
      bytes.toByteArray
    } finally arrow.root.close()
  }

  private def writer(types: Seq[DataType], timeZone: String): ArrowWriter = ArrowWriter.create(
    StructType(types.zipWithIndex.map { case (t, i) => StructField(i.toString, t) }),
    timeZone,
    errorOnDuplicatedFieldNames = false,
    largeVarTypes = false
  )
}
