package thetajoin.accelerator.existence

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.accelerator.SeenKeys

/** Holds a bounded number of keys. Once it is full it starts afresh, or takes every key for new if three of four have been. */
private[existence] final class SeenMany(types: Seq[DataType]) extends SeenKeys {
  private var longs: LongSet = _
  private var others: GroupedBytesBuilder = _
  private var rows = 0L
  private var kept = 0L
  private var held = 0
  startAfresh()

  override def isNew(key: Long): Boolean = longs == null || count(longs.add(key))

  override def isNew(key: UnsafeRow): Boolean =
    if (longs != null) isNew(key.getLong(0))
    else others == null || count(others.addKey(key))

  private def startAfresh(): Unit = {
    if (types == Seq(LongType)) longs = new LongSet
    else others = new GroupedBytesBuilder(types, distinct = true)
    held = 0
  }

  private def count(isNew: Boolean): Boolean = {
    rows += 1
    if (isNew) {
      kept += 1
      held += 1
      if (held == SeenMany.Most || (others != null && others.keyBytes >= SeenMany.MostBytes)) {
        longs = null
        others = null
        if (kept * 4 <= rows * 3) startAfresh()
      }
    }
    isNew
  }
}

private object SeenMany {

  /** Some 16 MB of numbers. */
  val Most: Int = 1 << 20

  /** Of keys that are no numbers. */
  val MostBytes: Long = 16L << 20
}
