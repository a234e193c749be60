package thetajoin.accelerator.existence

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.contract.SeenKeys
import thetajoin.kit.LongOrder
import thetajoin.kit.keys.{GroupedBytesBuilder, LongNumbering, LongSet}

/** Holds a bounded number of keys. Once it is full it starts afresh, or takes every key for new if three of four have been. */
private[existence] final class SeenMany(newMemory: () => KeyMemory) extends SeenKeys {
  private var memory = newMemory()
  private var rows = 0L
  private var kept = 0L

  override def isNew(key: Long): Boolean = memory == null || count(memory.isNew(key))

  override def isNew(key: UnsafeRow): Boolean = memory == null || count(memory.isNew(key))

  private def count(isNew: Boolean): Boolean = {
    rows += 1
    if (isNew) {
      kept += 1
      if (memory.isFull) memory = if (kept * 4 <= rows * 3) newMemory() else null
    }
    isNew
  }
}

/** The keys of rows, and what has to be known of rows with the same key. */
private[existence] abstract class KeyMemory extends SeenKeys {
  def isFull: Boolean
}

private[existence] object KeyMemory {

  /** For rows of which the first of each key is needed. */
  def ofKeys(types: Seq[DataType]): KeyMemory = types match {
    case Seq(LongType) => new LongMemory
    case _ => new RowMemory(types)
  }

  /** Some 16 MB of numbers. */
  val Most: Int = 1 << 20

  /** Of keys that are no numbers. */
  val MostBytes: Long = 16L << 20
}

private final class LongMemory extends KeyMemory {
  private val keys = new LongSet
  override def isFull: Boolean = keys.size >= KeyMemory.Most
  override def isNew(key: Long): Boolean = keys.add(key)
  override def isNew(key: UnsafeRow): Boolean = isNew(key.getLong(0))
}

private final class RowMemory(types: Seq[DataType]) extends KeyMemory {
  private val keys = new GroupedBytesBuilder(types, distinct = true)

  override def isFull: Boolean =
    keys.size >= KeyMemory.Most || keys.keyBytes >= KeyMemory.MostBytes

  override def isNew(key: UnsafeRow): Boolean = {
    val known = keys.size
    keys.groupOf(key) == known
  }

  override def isNew(key: Long): Boolean =
    throw new UnsupportedOperationException(s"a key is a row of ${types.mkString(", ")}")
}

/**
 * For rows of which those with the lowest or the highest value of their key are needed. A key row has the key, then the
 * value.
 *
 * @param values where the value stands
 */
private[existence] abstract class ExtremesMemory(lowest: Boolean, highest: Boolean, values: Int)
    extends KeyMemory {
  private var lows, highs = new Array[Long](64)

  /** How many keys there are. */
  protected def size: Int

  /** The number of a row's key, the next one if it is new. */
  protected def keyOf(row: UnsafeRow): Int

  final override def isNew(row: UnsafeRow): Boolean = {
    val known = size
    val key = keyOf(row)
    val value = row.getLong(values)
    if (key == known) keep(key, value)
    key == known || isBeyond(key, value)
  }

  private def keep(key: Int, value: Long): Unit = {
    if (key == lows.length) {
      lows = Arrays.copyOf(lows, LongOrder.grown(key))
      highs = Arrays.copyOf(highs, LongOrder.grown(key))
    }
    lows(key) = value
    highs(key) = value
  }

  private def isBeyond(key: Int, value: Long): Boolean =
    if (lowest && value < lows(key)) {
      lows(key) = value
      true
    } else if (highest && value > highs(key)) {
      highs(key) = value
      true
    } else false

  final override def isNew(key: Long): Boolean =
    throw new UnsupportedOperationException("a key has a value beside it")
}

private[existence] object ExtremesMemory {

  /** @param types of the keys, which come ahead of the value */
  def apply(types: Seq[DataType], lowest: Boolean, highest: Boolean): KeyMemory = types match {
    case Seq(LongType) => new LongExtremes(lowest, highest)
    case _ => new RowExtremes(types, lowest, highest)
  }
}

private final class LongExtremes(lowest: Boolean, highest: Boolean)
    extends ExtremesMemory(lowest, highest, values = 1) {
  private val keys = new LongNumbering
  override def isFull: Boolean = keys.size >= KeyMemory.Most / 2
  override protected def size: Int = keys.size
  override protected def keyOf(row: UnsafeRow): Int = keys.numberOf(row.getLong(0))
}

private final class RowExtremes(types: Seq[DataType], lowest: Boolean, highest: Boolean)
    extends ExtremesMemory(lowest, highest, values = types.size) {
  private val keysOf = UnsafeProjection.create(types.toArray)
  private val keys = new GroupedBytesBuilder(types, distinct = true)

  override def isFull: Boolean =
    keys.size >= KeyMemory.Most / 2 || keys.keyBytes >= KeyMemory.MostBytes
  override protected def size: Int = keys.size
  override protected def keyOf(row: UnsafeRow): Int = keys.groupOf(keysOf(row))
}
