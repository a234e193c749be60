package thetajoin.accelerator.existence

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{DataType, LongType}

import thetajoin.accelerator.SeenKeys

/** Gives up, and takes every key for new, once it holds many and most have been new. */
private[existence] final class SeenMany(types: Seq[DataType]) extends SeenKeys {
  private var longs = if (types == Seq(LongType)) new LongSet else null
  private var others = if (longs == null) new GroupedBytesBuilder(types, distinct = true) else null
  private var rows = 0L
  private var kept = 0L

  override def isNew(key: Long): Boolean = longs == null || count(longs.add(key))

  override def isNew(key: UnsafeRow): Boolean =
    if (types == Seq(LongType)) isNew(key.getLong(0))
    else others == null || count(others.addKey(key))

  private def count(isNew: Boolean): Boolean = {
    rows += 1
    if (isNew) kept += 1
    if ((kept & (SeenMany.Window - 1)) == 0 && isNew && kept > rows / 2) {
      longs = null
      others = null
    }
    isNew
  }
}

private object SeenMany {

  /** After how many new keys it asks whether to go on; a power of two. */
  val Window: Int = 1 << 16
}
