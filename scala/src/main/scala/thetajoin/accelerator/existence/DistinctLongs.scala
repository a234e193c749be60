package thetajoin.accelerator.existence

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow

import thetajoin.accelerator._

/** Keeps each key once, and of the rows the first of each key. */
private[existence] final class DistinctLongsBuilder extends IndexBuilder {
  private val keys = new LongSet
  private val firsts = new mutable.ArrayBuilder.ofInt
  private var rows = 0

  override def add(row: InternalRow): Unit = {
    if (keys.add(row.getLong(0))) firsts += rows
    rows += 1
  }

  override def finish(): OrderedIndex = {
    val sorted = keys.toArray
    java.util.Arrays.sort(sorted)
    OrderedIndex(LongTable.of(sorted, numbered = false), firsts.result())
  }
}

/** A growing set of 64-bit numbers, by open addressing. */
final class LongSet {
  private var slots = new Array[Long](1 << 10)
  private var shift = LongHash.shift(slots.length)
  private var used = 0
  private var hasZero = false

  def size: Int = used + (if (hasZero) 1 else 0)

  /** Whether the number was not here before. */
  def add(key: Long): Boolean =
    if (key == 0L) {
      val isNew = !hasZero
      hasZero = true
      isNew
    } else {
      val isNew = insert(key)
      if (isNew) {
        used += 1
        if (used > slots.length / 2) grow()
      }
      isNew
    }

  private def insert(key: Long): Boolean = {
    val at = HashedLongs.slot(slots, 0L, shift, key)
    val isNew = slots(at) == 0L
    slots(at) = key
    isNew
  }

  private def grow(): Unit = {
    val old = slots
    slots = new Array[Long](Math.multiplyExact(old.length, 2))
    shift -= 1
    old.foreach(key => if (key != 0L) insert(key))
  }

  def toArray: Array[Long] = {
    val keys = slots.filter(_ != 0L)
    if (hasZero) keys :+ 0L else keys
  }
}
