package thetajoin.kit.keys

/**
 * A growing set of 64-bit numbers. It starts with open addressing: zero marks a free slot, and the number zero has a
 * field of its own. Whenever the set would grow and its numbers lie so close that a bit for each number in between
 * takes no more memory, it becomes a bitmap, until a number comes from far off.
 */
final class LongSet {
  private var slots = new Array[Long](1 << 10)
  private var shift = LongHash.shift(slots.length)
  private var bits: BitWindow = _
  private var wasBits = false
  private var used = 0
  private var hasZero = false
  private var least = Long.MaxValue
  private var greatest = Long.MinValue

  def size: Int = used + (if (hasZero) 1 else 0)

  /** About the most that it takes for them: four slots for each after it has grown, and two before. */
  def bytes: Long = 6 * 8L * size

  /** Whether the number was not here before. */
  def add(key: Long): Boolean =
    if (bits == null) addToSlots(key)
    else if (bits.covers(key) || widen(key)) {
      val isNew = bits.set(key)
      if (isNew) {
        used += 1
        note(key)
      }
      isNew
    } else {
      leaveBits()
      addToSlots(key)
    }

  private def addToSlots(key: Long): Boolean = {
    val isNew = if (key == 0L) !hasZero else insert(key)
    if (isNew) {
      if (key == 0L) hasZero = true else used += 1
      note(key)
      if (used > slots.length / 2) outgrow()
    }
    isNew
  }

  private def note(key: Long): Unit = {
    if (key < least) least = key
    if (key > greatest) greatest = key
  }

  private def insert(key: Long): Boolean = {
    val at = HashedLongs.slot(slots, 0L, shift, key)
    val isNew = slots(at) == 0L
    slots(at) = key
    isNew
  }

  private def outgrow(): Unit =
    if (!wasBits && BitWindow.suits(least, greatest, size)) {
      val window = BitWindow.of(least, greatest)
      foreach(window.set(_): Unit)
      bits = window
      used = size
      hasZero = false
      slots = Array.emptyLongArray
    } else {
      val old = slots
      slots = new Array[Long](Math.multiplyExact(old.length, 2))
      shift -= 1
      foreachIn(old)(insert(_): Unit)
    }

  private def widen(key: Long): Boolean = {
    val (from, to) = (math.min(least, key), math.max(greatest, key))
    val suits = BitWindow.suits(from, to, size)
    if (suits) bits = bits.widened(from, to)
    suits
  }

  private def leaveBits(): Unit = {
    slots = new Array[Long](LongHash.capacity(used))
    shift = LongHash.shift(slots.length)
    hasZero = bits.covers(0L) && bits.has(0L)
    used -= (if (hasZero) 1 else 0)
    bits.foreach(key => if (key != 0L) insert(key): Unit)
    bits = null
    wasBits = true
  }

  private def foreach(f: Long => Unit): Unit =
    if (bits != null) bits.foreach(f)
    else {
      foreachIn(slots)(f)
      if (hasZero) f(0L)
    }

  private def foreachIn(slots: Array[Long])(f: Long => Unit): Unit = {
    var i = 0
    while (i < slots.length) {
      if (slots(i) != 0L) f(slots(i))
      i += 1
    }
  }

  /** The set as an index, which takes its memory over: nothing may be added afterwards. */
  def table(): LongTable =
    if (LongTable.isDense(least, greatest, size)) {
      val dense = BitWindow.of(least, greatest)
      foreach(dense.set(_): Unit)
      dense.table(greatest)
    } else {
      if (bits != null) leaveBits()
      hashed()
    }

  private def hashed(): HashedLongs = {
    val free =
      if (!hasZero) 0L
      else LongHash.absent(key => slots(HashedLongs.slot(slots, 0L, shift, key)) == key)
    if (hasZero) {
      var i = 0
      while (i < slots.length) {
        if (slots(i) == 0L) slots(i) = free
        i += 1
      }
      slots(HashedLongs.slot(slots, free, shift, 0L)) = 0L
    }
    new HashedLongs(least, greatest, slots, Array.emptyIntArray, free, shift)
  }
}
