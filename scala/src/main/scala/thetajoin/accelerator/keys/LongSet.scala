package thetajoin.accelerator.keys

/**
 * A growing set of 64-bit numbers, by open addressing. Zero marks a free slot, and is kept beside them.
 *
 * @param expected how many are to come: numbers in the order of another set's slots would crowd a smaller one
 */
final class LongSet(expected: Int = 0) {
  private var slots = new Array[Long](math.max(1 << 10, LongHash.capacity(expected)))
  private var shift = LongHash.shift(slots.length)
  private var used = 0
  private var hasZero = false
  private var least = Long.MaxValue
  private var greatest = Long.MinValue

  def size: Int = used + (if (hasZero) 1 else 0)

  /** Whether the number was not here before. */
  def add(key: Long): Boolean = {
    val isNew = if (key == 0L) !hasZero else insert(key)
    if (isNew) {
      if (key == 0L) hasZero = true else used += 1
      if (key < least) least = key
      if (key > greatest) greatest = key
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
    foreach(old)(key => insert(key): Unit)
  }

  private def foreach(slots: Array[Long])(f: Long => Unit): Unit = {
    var i = 0
    while (i < slots.length) {
      if (slots(i) != 0L) f(slots(i))
      i += 1
    }
  }

  /** The set as an index, which takes its memory over: nothing may be added afterwards. */
  def table(): LongTable =
    if (LongTable.isDense(least, greatest, size)) {
      val bits = new DenseBits(least, greatest)
      foreach(slots)(bits.set)
      if (hasZero) bits.set(0L)
      bits.result()
    } else if (hasZero) {
      val free = LongHash.absent(key => slots(HashedLongs.slot(slots, 0L, shift, key)) == key)
      var i = 0
      while (i < slots.length) {
        if (slots(i) == 0L) slots(i) = free
        i += 1
      }
      slots(HashedLongs.slot(slots, free, shift, 0L)) = 0L
      new HashedLongs(least, greatest, slots, Array.emptyIntArray, free, shift)
    } else new HashedLongs(least, greatest, slots, Array.emptyIntArray, free = 0L, shift)
}
