package thetajoin.exec

import java.util.Arrays

import scala.util.control.NonFatal

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.unsafe.Platform

import thetajoin.accelerator.LongOrder

/**
 * Probe rows in another order: batches, each in about ascending order of a number that the index is sorted by. Neighbours then look at
 * neighbouring places of the index, so that a large one is read from front to back once for each batch, and not from memory at
 * random for each row.
 */
private[exec] object SortedBatches {

  private val Rows = 1 << 16

  /** Of the rows of a batch, but for its last. */
  private val Bytes = 4 << 20

  /** `key` is a number over the rows' columns. */
  def of(rows: RDD[InternalRow], output: Seq[Attribute], key: Expression): RDD[InternalRow] =
    rows.mapPartitions(new SortedBatches(_, output, key))
}

private final class SortedBatches(
    rows: Iterator[InternalRow],
    output: Seq[Attribute],
    key: Expression
) extends Iterator[InternalRow] {
  import SortedBatches.{Bytes, Rows}

  private val toUnsafe = UnsafeProjection.create(output, output)
  private val keyOf = UnsafeProjection.create(Seq(key), output)
  private val keys = new Array[Long](Rows)
  private val offsets = new Array[Int](Rows + 1)
  private var bytes = new Array[Byte](1 << 20)
  private var order = Array.emptyIntArray
  private var read = 0
  private val row = new UnsafeRow(output.size)

  override def hasNext: Boolean = read < order.length || fill()

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    val i = order(read)
    read += 1
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + offsets(i), offsets(i + 1) - offsets(i))
    row
  }

  private def fill(): Boolean = {
    var size = 0
    while (size < Rows && offsets(size) < Bytes && rows.hasNext) {
      add(size, rows.next())
      size += 1
    }
    order = LongOrder.nearlyAscending(keys, size)
    read = 0
    size > 0
  }

  private def add(i: Int, input: InternalRow): Unit = {
    val unsafe = input match {
      case known: UnsafeRow => known
      case other => toUnsafe(other)
    }
    val (from, size) = (offsets(i), unsafe.getSizeInBytes)
    if (bytes.length - from < size)
      bytes =
        Arrays.copyOf(bytes, math.max(LongOrder.grown(bytes.length), Math.addExact(from, size)))
    unsafe.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + from)
    offsets(i + 1) = from + size
    keys(i) = keyNumber(unsafe)
  }

  /** A key that is null or fails stands anywhere: the join evaluates it again. */
  private def keyNumber(row: UnsafeRow): Long =
    try {
      val key = keyOf(row)
      if (key.isNullAt(0)) 0L else key.getLong(0)
    } catch { case NonFatal(_) => 0L }
}
