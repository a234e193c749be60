package thetajoin.kit.keys

/**
 * Numbers 64-bit keys from 0 in order of arrival. It is a table with open addressing. Zero marks a free slot, and the
 * number of the key zero has a field of its own.
 */
final class LongNumbering {
  private var slots = new Array[Long](1 << 10)
  private var numbers = new Array[Int](slots.length)
  private var shift = LongHash.shift(slots.length)
  private var ofZero = -1
  private var count = 0

  /** How many keys there are. */
  def size: Int = count

  /** About the most bytes for them: a table that has just grown, and the one before. */
  def bytes: Long = LongNumbering.BytesOfKey * count

  /** The keys by number. */
  def keys(): Array[Long] = {
    val keys = new Array[Long](count)
    var i = 0
    while (i < slots.length) {
      if (slots(i) != 0L) keys(numbers(i)) = slots(i)
      i += 1
    }
    keys
  }

  /** The number of a key, the next one if it is new. */
  def numberOf(key: Long): Int =
    if (key == 0L) {
      if (ofZero < 0) ofZero = next()
      ofZero
    } else {
      val at = HashedLongs.slot(slots, 0L, shift, key)
      if (slots(at) == key) numbers(at)
      else {
        val number = next()
        slots(at) = key
        numbers(at) = number
        if (count > slots.length / 16 * LongNumbering.MostOfSixteen) grow()
        number
      }
    }

  private def next(): Int = {
    count += 1
    count - 1
  }

  private def grow(): Unit = {
    val (oldSlots, oldNumbers) = (slots, numbers)
    slots = new Array[Long](Math.multiplyExact(oldSlots.length, 2))
    numbers = new Array[Int](slots.length)
    shift -= 1
    var i = 0
    while (i < oldSlots.length) {
      if (oldSlots(i) != 0L) {
        val at = HashedLongs.slot(slots, 0L, shift, oldSlots(i))
        slots(at) = oldSlots(i)
        numbers(at) = oldNumbers(i)
      }
      i += 1
    }
  }
}

private object LongNumbering {

  /** How many of 16 slots are in use at most, as in a [[ShortTable]]. */
  val MostOfSixteen: Int = ShortTable.MostOfSixteen

  private val BytesOfSlot = 8L + 4L

  /** Of as many slots as are free after a table has grown, and half as many before. */
  val BytesOfKey: Long = 3L * BytesOfSlot * 16 / MostOfSixteen
}
