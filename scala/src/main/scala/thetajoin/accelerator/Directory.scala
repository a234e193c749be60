package thetajoin.accelerator

/**
 * Cuts the span of the sorted keys into equal slices, about one for four keys, and holds the position at which
 * each slice starts: a search then looks at one slice only. Slices are equal in key, not in count, so that the
 * rest is a binary search whatever the distribution.
 */
final class Directory(least: Long, greatest: Long, shift: Int, starts: Array[Int])
    extends Serializable {
  def bytes: Long = 4L * starts.length

  def firstAtLeast(keys: Array[Long], key: Long): Int =
    if (keys.length == 0 || key <= least) 0
    else if (key > greatest) keys.length
    else {
      val slice = ((key - least) >>> shift).toInt
      LongOrder.firstAtLeast(keys, key, starts(slice), starts(slice + 1))
    }
}

object Directory {
  private val KeysPerSlice = 4

  def apply(keys: Array[Long]): Directory =
    if (keys.isEmpty) new Directory(0L, 0L, 0, Array(0, 0))
    else {
      val least = keys(0)
      val greatest = keys(keys.length - 1)
      // The span may exceed Long.MaxValue: it is an unsigned number, as is everything derived by >>>.
      val span = greatest - least
      val wanted = math.max(1, keys.length / KeysPerSlice)
      val spanBits = 64 - java.lang.Long.numberOfLeadingZeros(span)
      val sliceBits = 31 - Integer.numberOfLeadingZeros(wanted)
      val shift = math.min(63, math.max(0, spanBits - sliceBits))
      val slices = (span >>> shift).toInt + 1
      val starts = new Array[Int](slices + 1)
      var position = 0
      var slice = 0
      while (slice < slices) {
        while (position < keys.length && ((keys(position) - least) >>> shift).toInt < slice)
          position += 1
        starts(slice) = position
        slice += 1
      }
      starts(slices) = keys.length
      new Directory(least, greatest, shift, starts)
    }
}
