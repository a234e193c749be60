package thetajoin.kit

/**
 * Makes searches in sorted keys short. It cuts the span of the keys into equal slices, about one for four keys, and
 * holds the position at which each slice starts: a search then looks at one slice only. Slices are equal in key, not
 * in count, so that the rest is a binary search whatever the distribution.
 */
final class Directory private (least: Long, greatest: Long, shift: Int, starts: Array[Int])
    extends Serializable {
  def bytes: Long = 4L * starts.length

  /**
   * The first position of a key, in the keys it was made for, that is at least this one; their end if there is none.
   */
  def firstAtLeast(keys: Array[Long], key: Long): Int =
    if (key <= least) starts(0)
    else if (key > greatest) starts(starts.length - 1)
    else {
      val slice = ((key - least) >>> shift).toInt
      LongOrder.firstAtLeast(keys, key, starts(slice), starts(slice + 1))
    }
}

object Directory {
  private val KeysPerSlice = 4

  def apply(keys: Array[Long]): Directory = apply(keys, 0, keys.length)

  /** Over the keys of the positions `[from, until)`. */
  def apply(keys: Array[Long], from: Int, until: Int): Directory =
    if (from == until) new Directory(Long.MaxValue, Long.MinValue, 0, Array(from))
    else {
      val least = keys(from)
      val greatest = keys(until - 1)
      // The span may exceed Long.MaxValue: it is an unsigned number, as is everything derived by >>>.
      val span = greatest - least
      val wanted = math.max(1, (until - from) / KeysPerSlice)
      val spanBits = 64 - java.lang.Long.numberOfLeadingZeros(span)
      val sliceBits = 31 - Integer.numberOfLeadingZeros(wanted)
      val shift = math.min(63, math.max(0, spanBits - sliceBits))
      val slices = (span >>> shift).toInt + 1
      val starts = new Array[Int](slices + 1)
      var position = from
      var slice = 0
      while (slice < slices) {
        while (position < until && ((keys(position) - least) >>> shift).toInt < slice)
          position += 1
        starts(slice) = position
        slice += 1
      }
      starts(slices) = until
      new Directory(least, greatest, shift, starts)
    }
}
