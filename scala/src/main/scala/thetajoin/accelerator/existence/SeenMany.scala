package thetajoin.accelerator.existence

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.contract.SeenKeys
import thetajoin.kit.LongOrder
import thetajoin.kit.keys.{BytesNumbering, KeyBytes, LongSet, ValueNumbering}

/**
 * Holds a bounded number of keys. Once it is full it starts afresh, or takes every key for new if three of four have
 * been.
 */
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

/** The keys of rows, and the facts that are needed of rows with the same key. */
private[existence] abstract class KeyMemory extends SeenKeys {
  def isFull: Boolean
}

private[existence] object KeyMemory {

  /** For joins that need the first row of each key. */
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
  private val keys = new BytesNumbering
  private val bytes = KeyBytes(types)

  override def isFull: Boolean = keys.size >= KeyMemory.Most || keys.bytes >= KeyMemory.MostBytes

  override def isNew(key: UnsafeRow): Boolean = {
    val known = keys.size
    keys.numberOf(key.getBaseObject, bytes.offset(key), bytes.size(key)) == known
  }

  override def isNew(key: Long): Boolean =
    throw new UnsupportedOperationException(s"a key is a row of ${types.mkString(", ")}")
}

/**
 * For joins that need the rows with the lowest or the highest value of their key. A key row has the key, then the
 * value.
 *
 * @param types of the columns of the key
 */
private[existence] final class ExtremesMemory(
    types: Seq[DataType],
    lowest: Boolean,
    highest: Boolean
) extends KeyMemory {
  private val isLong = types == Seq(LongType)
  private val keys = new ValueNumbering(isLong)
  private lazy val keysOf = UnsafeProjection.create(types.toArray)
  private val bytes = KeyBytes(types)
  private val values = types.size

  /** By the number of a key, for the first `kept` numbers. */
  private var lows, highs = new Array[Long](64)
  private var kept = 0

  override def isFull: Boolean =
    keys.size >= KeyMemory.Most / 2 || keys.bytes >= KeyMemory.MostBytes

  override def isNew(row: UnsafeRow): Boolean = {
    val key = keyOf(row)
    val value = row.getLong(values)
    if (key < kept) isBeyond(key, value) else keep(value)
  }

  private def keyOf(row: UnsafeRow): Int =
    if (isLong) keys.numberOf(row.getLong(0))
    else {
      val key = keysOf(row)
      keys.numberOf(key.getBaseObject, bytes.offset(key), bytes.size(key))
    }

  private def keep(value: Long): Boolean = {
    if (kept == lows.length) {
      lows = Arrays.copyOf(lows, LongOrder.grown(kept))
      highs = Arrays.copyOf(highs, LongOrder.grown(kept))
    }
    lows(kept) = value
    highs(kept) = value
    kept += 1
    true
  }

  private def isBeyond(key: Int, value: Long): Boolean =
    if (lowest && value < lows(key)) {
      lows(key) = value
      true
    } else if (highest && value > highs(key)) {
      highs(key) = value
      true
    } else false

  override def isNew(key: Long): Boolean =
    throw new UnsupportedOperationException("a key has a value beside it")
}

private[existence] object ExtremesMemory {

  /** For the rows of a task, by the types of a key row: a key, then a value. */
  def ofRows(lowest: Boolean, highest: Boolean)(types: Seq[DataType]): SeenKeys =
    new SeenMany(() => new ExtremesMemory(types.init, lowest, highest))
}
