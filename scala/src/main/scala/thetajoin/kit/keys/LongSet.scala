package thetajoin.kit.keys

/**
 * A growing set of 64-bit numbers. It starts with open addressing: zero marks a free slot, and the number zero has a
 * field of its own. Whenever the set would grow and its numbers lie so close that a bit for each number in between
 * takes no more memory, it becomes a bitmap, until a number comes from far off.
 *
 * @param expected how many are to come: numbers in the order of another set's slots would crowd a smaller one
 */
final class LongSet(expected: Int = 0) {
  private var slots = new Array[Long](math.max(1 << 10, LongHash.capacity(expected)))
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

/** Bits for the numbers from `base` on. The numbers may wrap around: a bit stands for one number. */
private[keys] final class BitWindow(base: Long, words: Array[Long]) {
  def covers(key: Long): Boolean = {
    val bit = key - base
    bit >= 0 && (bit >>> 6) < words.length
  }

  def has(key: Long): Boolean = {
    val bit = key - base
    ((words((bit >>> 6).toInt) >>> bit) & 1L) != 0L
  }

  /** Whether the bit was not set before. */
  def set(key: Long): Boolean = {
    val bit = key - base
    val (at, mask) = ((bit >>> 6).toInt, 1L << bit)
    val isNew = (words(at) & mask) == 0L
    words(at) |= mask
    isNew
  }

  def foreach(f: Long => Unit): Unit = {
    var at = 0
    while (at < words.length) {
      var word = words(at)
      while (word != 0L) {
        f(base + (at.toLong << 6) + java.lang.Long.numberOfTrailingZeros(word))
        word &= word - 1
      }
      at += 1
    }
  }

  /** A window that spans these numbers as well, with room for more in the direction in which they go on. */
  def widened(from: Long, to: Long): BitWindow = {
    val room = (to - from) / 2
    val end = base + (words.length.toLong << 6) - 1
    val wider =
      if (from - base < 0) BitWindow.of(from - room, end)
      else BitWindow.of(base, to + room)
    foreach(wider.set(_): Unit)
    wider
  }

  /** The numbers as a table without numbers of their own; `base` is the least of them. */
  def table(greatest: Long): DenseLongs =
    new DenseLongs(base, greatest, words, Array.emptyIntArray)

  /** The same with their numbers in ascending order. */
  def numbered(greatest: Long): DenseLongs = {
    val ranks = new Array[Int](words.length)
    var i = 1
    while (i < words.length) {
      ranks(i) = ranks(i - 1) + java.lang.Long.bitCount(words(i - 1))
      i += 1
    }
    new DenseLongs(base, greatest, words, ranks)
  }
}

private[keys] object BitWindow {
  def of(from: Long, to: Long): BitWindow =
    new BitWindow(from, new Array[Long](((to - from) >>> 6).toInt + 1))

  def suits(least: Long, greatest: Long, keys: Int): Boolean =
    LongTable.isDense(least, greatest, keys) && greatest - least <= MostBits

  /** 32 MB of them: so few numbers that a hash table can take them over. */
  private val MostBits = 1L << 28
}
